// Text files for tests: written plain, or compressed with zlib.
//
//   WriteText(folder.path() / "events.csv.gz", Gzip("1,2\n") + Gzip("3,4\n"));
#pragma once

#include <zlib.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "engine/source/input_file.h"

namespace glaive::engine {

/// Writes the bytes to a file and returns its path.
inline std::string WriteText(const std::filesystem::path& path, std::string_view text) {
  std::ofstream out(path, std::ios::binary);
  out << text;
  if (!out.flush()) {
    throw std::runtime_error("cannot write " + path.string());
  }
  return path.string();
}

/// The files as they are now, for what reads them.
inline std::vector<ListedFile> Listed(const std::vector<std::string>& paths) {
  std::vector<ListedFile> files;
  for (const std::string& path : paths) {
    files.push_back(ListFile(path).value());
  }
  return files;
}

/// `text` as one member of a gzip file.
inline std::string Gzip(std::string_view text) {
  z_stream stream{};
  if (::deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::runtime_error("zlib");
  }
  std::string copy(text);
  std::string out(::deflateBound(&stream, copy.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(copy.data());
  stream.avail_in = static_cast<uInt>(copy.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int result = ::deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  ::deflateEnd(&stream);
  if (result != Z_STREAM_END) {
    throw std::runtime_error("zlib");
  }
  return out;
}

}  // namespace glaive::engine
