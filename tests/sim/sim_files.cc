#include "tests/sim/sim_files.h"

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <system_error>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"

#include "engine/files/completeness.h"
#include "engine/files/result_part.h"
#include "rdma/base/check.h"
#include "tests/sim/line_files.h"

namespace glaive::sim {
namespace {

namespace fs = std::filesystem;

/// A folder in memory where the system has one, since a run waits until its files are on the disk.
std::string FolderOf(pid_t process) {
  const fs::path memory = "/dev/shm";
  const fs::path parent = fs::is_directory(memory) ? memory : fs::temp_directory_path();
  return parent / absl::StrCat("glaive-simulate-", process);
}

std::string LinesOf(std::span<const Event> events) {
  std::string lines;
  for (const Event& event : events) {
    absl::StrAppend(&lines, event.key, ",", event.time_ms, ",", event.amount, ",",
                    std::bit_cast<std::uint32_t>(event.weight), ",", event.kind, "\n");
  }
  return lines;
}

void WriteFile(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text << std::flush;
  GLAIVE_CHECK(file.good(), "cannot write ", path);
}

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> NamesIn(const std::string& folder) {
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename());
  std::ranges::sort(names);
  return names;
}

bool IsPart(const std::string& name) {
  return name.starts_with(kOutputName) && std::ranges::any_of(kFileEndings, [&](std::string_view ending) {
           return name.find(ending) != std::string::npos;
         });
}

std::vector<Event> EventsOf(const Flow& flow) {
  std::vector<Event> events;
  for (const Batch& batch : flow) events.insert(events.end(), batch.events.begin(), batch.events.end());
  return events;
}

}  // namespace

SimFiles::SimFiles(const Input& input, const engine::Roles& roles, std::int64_t first_ending)
    : roles_(roles), first_ending_(static_cast<std::size_t>(first_ending)), folder_(FolderOf(getpid())) {
  fs::remove_all(folder_);
  fs::create_directory(folder_);
  for (std::size_t source = 0; source < input.sources.size(); ++source) {
    for (std::uint32_t reader = 0; reader < roles.reader_count(); ++reader) {
      const std::vector<Event> events = EventsOf(input.sources[source][reader]);
      const std::span<const Event> all(events);
      WriteFile(InputPath(source, reader), LinesOf(all.first(all.size() / 2)));
      WriteFile(InputPath(source, reader + roles.reader_count()), LinesOf(all.subspan(all.size() / 2)));
    }
  }
}

SimFiles::~SimFiles() { RemoveThoseOf(getpid()); }

void SimFiles::RemoveThoseOf(pid_t process) {
  std::error_code ignored;
  fs::remove_all(FolderOf(process), ignored);
}

std::string SimFiles::InputPattern(std::size_t source) const {
  return absl::StrCat(folder_, "/", std::string(kInputName), source, "-*.txt");
}

std::string SimFiles::InputPath(std::size_t source, std::size_t part) const {
  return absl::StrFormat("%s/%s%d-%03d.txt", folder_, std::string(kInputName), source, part);
}

std::string SimFiles::OutputName(std::size_t output) const {
  const std::string_view ending = kFileEndings[(first_ending_ + output) % kFileEndings.size()];
  return absl::StrCat(std::string(kOutputName), output, std::string(ending));
}

std::string SimFiles::OutputPath(std::size_t output) const { return absl::StrCat(folder_, "/", OutputName(output)); }

std::string SimFiles::RefusedOutputPath(std::size_t output) const {
  return absl::StrCat(folder_, "/missing/", OutputName(output));
}

std::string SimFiles::SecondOf(std::size_t source, ExecutorId executor) const {
  return InputPath(source, roles_.ReaderOf(executor) + roles_.reader_count());
}

void SimFiles::Cut(std::size_t source, ExecutorId executor) const {
  std::error_code gone;
  const std::string path = SecondOf(source, executor);
  fs::resize_file(path, fs::file_size(path, gone) / 2, gone);
}

void SimFiles::Damage(std::size_t source, ExecutorId executor) const {
  const std::string path = SecondOf(source, executor);
  std::string text = ReadFile(path);
  if (text.empty()) return;
  const fs::file_time_type time = fs::last_write_time(path);
  text[text.size() - 2] = '?';
  WriteFile(path, text);
  fs::last_write_time(path, time);
}

void SimFiles::Discard(std::size_t source, ExecutorId executor) const { fs::remove(SecondOf(source, executor)); }

bool SimFiles::FitsProgress(const std::string& part, std::size_t rows) const {
  const std::string path = absl::StrCat(folder_, "/", part);
  const std::string progress = engine::ProgressPath(path);
  if (!fs::exists(progress)) return true;
  const std::string expected = absl::StrFormat("\"bytes\":%d,\"rows\":%d", fs::file_size(path), rows);
  return absl::StrContains(ReadFile(progress), expected);
}

PublishedParts SimFiles::PublishedBy(ExecutorId executor) const {
  PublishedParts published;
  const std::string ending = engine::PartPath("", executor, roles_.executor_count());
  for (const std::string& name : NamesIn(folder_)) {
    if (!IsPart(name) || !name.ends_with(ending)) continue;
    ++published.parts;
    const auto lines = ParseLines(name, ReadFile(absl::StrCat(folder_, "/", name)));
    if (!lines.has_value() || !FitsProgress(name, lines->size())) {
      published.rows.rows.push_back(absl::StrCat("damaged: ", name));
      continue;
    }
    for (const RowLine& line : *lines) {
      (line.kind == kLateLine ? published.rows.late : published.rows.rows).push_back(line.text);
    }
  }
  return published;
}

std::vector<std::string> SimFiles::Leftovers() const {
  std::vector<std::string> names = NamesIn(folder_);
  std::erase_if(names, [](const std::string& name) {
    // A run that fails leaves what says how far its parts are complete.
    const bool is_progress = name.ends_with(".progress");
    return IsPart(name) || is_progress || name.starts_with(kInputName);
  });
  return names;
}

std::string SimFiles::WithoutPlace(const std::string& text) const {
  return absl::StrReplaceAll(text, {{absl::StrCat(folder_, "/"), ""}, {absl::StrCat(".", getpid(), "-"), ".PROCESS-"}});
}

Input AsLinesAreRead(const Input& input, std::int64_t batch) {
  Input read = input;
  read.sources.clear();
  for (const std::vector<Flow>& flows : input.sources) {
    std::vector<Flow>& read_flows = read.sources.emplace_back();
    for (const Flow& flow : flows) {
      Flow& read_flow = read_flows.emplace_back();
      std::int64_t watermark_ms = kBeginningMs;
      for (const Event& event : EventsOf(flow)) {
        if (read_flow.empty() || std::ssize(read_flow.back().events) == batch) read_flow.emplace_back();
        watermark_ms = std::max(watermark_ms, event.time_ms);
        read_flow.back().events.push_back(event);
        read_flow.back().watermark_ms = watermark_ms;
      }
    }
  }
  return read;
}

std::unique_ptr<SimFiles> FilesOf(const Scenario& scenario, const Input& input) {
  if (scenario.file_sources == 0 && scenario.file_sinks == 0) return nullptr;
  return std::make_unique<SimFiles>(scenario.file_sources == 1 ? input : Input{}, scenario.roles(),
                                    scenario.first_ending);
}

}  // namespace glaive::sim
