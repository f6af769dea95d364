#include "engine/source/line_reader.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"

namespace glaive::engine {

namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

bool IsBlank(std::string_view line) { return line.find_first_not_of(" \t\r") == std::string_view::npos; }

}  // namespace

LineReader::LineReader(std::vector<ListedFile> files)
    : files_(std::move(files)), text_(std::make_unique_for_overwrite<char[]>(kMaxLineBytes + InputFile::kBlockBytes)) {}

LineEvent LineReader::Next() {
  LineEvent event = NextOfAny();
  while (event == LineEvent::kLine && IsBlank(line_)) {
    event = NextOfAny();
  }
  return event;
}

/// What comes next, blank lines included.
LineEvent LineReader::NextOfAny() {
  while (file_index_ < files_.size()) {
    const char* const from = text_.get() + std::max(begin_, searched_);
    const char* const end = text_.get() + end_;
    const void* const newline = from == end ? nullptr : std::memchr(from, '\n', static_cast<std::size_t>(end - from));
    if (newline != nullptr) {
      const auto at = static_cast<std::size_t>(static_cast<const char*>(newline) - text_.get());
      if (!std::exchange(in_long_line_, false)) {
        return Take(at, at + 1);
      }
      begin_ = at + 1;
      continue;
    }
    searched_ = end_;
    if (in_long_line_) {
      begin_ = end_;
    }
    if (!file_ || !file_->ended()) {
      in_long_line_ = in_long_line_ || end_ - begin_ > kMaxLineBytes;
      return end_ - begin_ > kMaxLineBytes ? Take(end_, end_) : LineEvent::kWait;
    }
    if (begin_ < end_) {
      return Take(end_, end_);
    }
    EndFile();
  }
  return LineEvent::kEnd;
}

/// Makes the text up to `end` the current line; the rest goes on at `next`. A byte order mark counts to the line's
/// length, as it does where NextOfAny discards the rest of a line that is too long.
LineEvent LineReader::Take(std::size_t end, std::size_t next) {
  line_ = {text_.get() + begin_, end - begin_};
  begin_ = next;
  ++line_number_;
  if (line_.size() > kMaxLineBytes) {
    fault_ = absl::StrCat(path(), ":", line_number_, ":1: the line is longer than ", kMaxLineBytes, " bytes");
    return LineEvent::kFault;
  }
  if (line_number_ == 1 && line_.starts_with(kByteOrderMark)) {
    line_.remove_prefix(kByteOrderMark.size());
  }
  if (line_.ends_with('\r')) {
    line_.remove_suffix(1);
  }
  return LineEvent::kLine;
}

void LineReader::EndFile() {
  ++file_index_;
  file_.reset();
  line_number_ = 0;
  in_long_line_ = false;
}

absl::Status LineReader::Read() {
  if (!file_) {
    absl::StatusOr<InputFile> file = InputFile::Open(files_[file_index_]);
    if (!file.ok()) {
      return file.status();
    }
    file_ = *std::move(file);
  }
  std::memmove(text_.get(), text_.get() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
  searched_ = end_;
  const absl::StatusOr<std::size_t> count = file_->Read({text_.get() + end_, InputFile::kBlockBytes});
  if (!count.ok()) {
    return {count.status().code(), absl::StrCat(count.status().message(), " (lines before it: ", line_number_, ")")};
  }
  end_ += *count;
  return absl::OkStatus();
}

}  // namespace glaive::engine
