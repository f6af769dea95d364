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

LineReader::LineReader(std::vector<FileShare> files, LineRules rules)
    : files_(std::move(files)),
      rules_(rules),
      text_(std::make_unique_for_overwrite<char[]>(kMaxLineBytes + InputFile::kBlockBytes + kPaddingBytes)) {}

LineEvent LineReader::Next() {
  LineEvent event = NextOfAny();
  while ((event == LineEvent::kLine ? !rules_.blank_lines : event == LineEvent::kHeader) && IsBlank(line_)) {
    event = NextOfAny();
  }
  wants_header_ = wants_header_ && event != LineEvent::kHeader;
  return event;
}

/// What comes next, blank lines included.
LineEvent LineReader::NextOfAny() {
  while (file_index_ < files_.size()) {
    if (!file_) {
      return LineEvent::kWait;
    }
    const LineEvent event = NextOfFile();
    if (event != LineEvent::kEnd) {
      return event;
    }
    if (is_cut_ && !file_->ended()) {  // Read sees whether the file is the one that was listed, and ends it
      is_done_ = true;
      return LineEvent::kWait;
    }
    EndFile();
  }
  return LineEvent::kEnd;
}

/// The same in the file that is open; kEnd at its end.
LineEvent LineReader::NextOfFile() {
  if (seek_to_) {
    return LineEvent::kWait;
  }
  while (true) {
    if (is_cut_ && !in_lost_line_ && !wants_header_) {
      if (const std::optional<LineEvent> event = FindStretch()) {
        return *event;
      }
    }
    const std::size_t end = FindEnd();
    if (end != std::string_view::npos) {
      if (!std::exchange(in_lost_line_, false)) {
        return Take(end, end + 1);
      }
      Discard(end + 1);
      continue;
    }
    if (in_lost_line_) {
      Discard(end_);
    }
    if (!file_->ended()) {
      if (end_ - begin_ > kMaxLineBytes) {
        in_lost_line_ = true;
        return Take(end_, end_);
      }
      return LineEvent::kWait;
    }
    return begin_ < end_ ? Take(end_, end_) : LineEvent::kEnd;
  }
}

std::size_t LineReader::FindEnd() {
  const std::size_t from = std::max(begin_, searched_);
  const std::string_view text(text_.get() + from, end_ - from);
  if (rules_.csv && text_offset_ + from == 0) {  // a quote behind a byte order mark opens a field
    if (text.size() < kByteOrderMark.size() && !file_->ended()) {
      return std::string_view::npos;
    }
    if (text.starts_with(kByteOrderMark)) {
      searched_ = from + kByteOrderMark.size();
      return FindEnd();
    }
  }
  std::size_t end = 0;
  if (rules_.csv) {
    end = quotes_.FindEnd(text);
  } else {
    const void* const newline = text.empty() ? nullptr : std::memchr(text.data(), '\n', text.size());
    end = newline == nullptr ? std::string_view::npos
                             : static_cast<std::size_t>(static_cast<const char*>(newline) - text.data());
  }
  searched_ = end == std::string_view::npos ? end_ : from + end + 1;
  return end == std::string_view::npos ? end : from + end;
}

void LineReader::Discard(std::size_t next) {
  if (rules_.csv) {
    lines_before_ += static_cast<std::uint64_t>(std::count(text_.get() + begin_, text_.get() + next, '\n'));
  } else {
    lines_before_ += next > begin_ && text_[next - 1] == '\n' ? 1 : 0;
  }
  begin_ = next;
}

/// Makes the text up to `end` the current line; the rest goes on at `next`. A byte order mark counts to the line's
/// length, as it does where NextOfFile discards the rest of a line that is too long.
LineEvent LineReader::Take(std::size_t end, std::size_t next) {
  line_ = {text_.get() + begin_, end - begin_};
  line_number_ = lines_before_ + 1;
  line_offset_ = offset();
  Discard(next);
  if (line_.size() > kMaxLineBytes) {
    fault_ = absl::StrCat(Place(1), ": the line is longer than ", kMaxLineBytes, " bytes",
                          rules_.csv ? "; perhaps a quote is not closed" : "");
    return LineEvent::kFault;
  }
  if (line_offset_ == 0 && line_.starts_with(kByteOrderMark)) {
    line_.remove_prefix(kByteOrderMark.size());
  }
  if (line_.ends_with('\r')) {
    line_.remove_suffix(1);
  }
  return wants_header_ ? LineEvent::kHeader : LineEvent::kLine;
}

std::optional<LineEvent> LineReader::FindStretch() {
  if (!gap_end_ && (offset() < stretch_.begin || offset() >= stretch_.end)) {
    stretch_ = NextStretch(files_[file_index_], offset());
    if (stretch_.begin >= files_[file_index_].file.bytes && stretch_.begin > offset()) {
      return LineEvent::kEnd;
    }
    if (stretch_.begin > offset()) {
      gap_end_ = stretch_.begin - 1;  // if a newline is there, a line begins with the stretch
    }
  }
  if (!gap_end_) {
    return std::nullopt;
  }
  if (!rules_.csv) {
    seek_to_ = std::exchange(gap_end_, std::nullopt);
    in_lost_line_ = true;
    return LineEvent::kWait;
  }
  const std::uint64_t rest = *gap_end_ - offset();
  const std::size_t next = begin_ + static_cast<std::size_t>(std::min<std::uint64_t>(rest, end_ - begin_));
  quotes_.Skip({text_.get() + begin_, next - begin_});
  searched_ = next;
  Discard(next);
  if (offset() < *gap_end_) {
    return file_->ended() ? LineEvent::kEnd : LineEvent::kWait;
  }
  gap_end_.reset();
  in_lost_line_ = true;
  return std::nullopt;
}

std::string LineReader::Place(std::size_t column) const {
  if (!has_numbers_) {
    return absl::StrCat(path(), ":byte ", line_offset_ + 1, ":", column);
  }
  // A line by the rule `csv` may have several.
  const std::string_view before = line_.substr(0, std::min(column - 1, line_.size()));
  const auto newlines = static_cast<std::uint64_t>(std::ranges::count(before, '\n'));
  const std::size_t begin = newlines == 0 ? 0 : before.rfind('\n') + 1;
  return absl::StrCat(path(), ":", line_number_ + newlines, ":", column - begin);
}

void LineReader::EndFile() {
  ++file_index_;
  file_.reset();
}

absl::Status LineReader::Open() {
  const FileShare& share = files_[file_index_];
  absl::StatusOr<InputFile> file = InputFile::Open(share.file);
  if (!file.ok()) {
    return file.status();
  }
  file_ = *std::move(file);
  begin_ = end_ = searched_ = 0;
  text_offset_ = 0;
  in_lost_line_ = is_done_ = false;
  wants_header_ = rules_.csv;
  quotes_ = {};
  stretch_ = {0, 0};
  gap_end_.reset();
  seek_to_.reset();
  lines_before_ = line_number_ = 0;
  is_cut_ = share.shares > 1 && !file_->compressed();
  has_numbers_ = !is_cut_ || rules_.csv;
  if (file_->compressed() && share.share > 0) {  // the first share is all of it
    EndFile();
  }
  return absl::OkStatus();
}

absl::Status LineReader::Read() {
  if (!file_) {
    if (absl::Status status = Open(); !status.ok() || !file_) {
      return status;
    }
  }
  if (is_done_) {
    absl::Status status = file_->CheckUnchanged();
    EndFile();
    return status;
  }
  if (seek_to_) {
    begin_ = end_ = searched_ = 0;
    text_offset_ = *std::exchange(seek_to_, std::nullopt);
    if (absl::Status status = file_->Seek(text_offset_); !status.ok()) {
      return status;
    }
  }
  std::memmove(text_.get(), text_.get() + begin_, end_ - begin_);
  text_offset_ += begin_;
  end_ -= begin_;
  searched_ -= std::min(searched_, begin_);
  begin_ = 0;
  const absl::StatusOr<std::size_t> count = file_->Read({text_.get() + end_, InputFile::kBlockBytes});
  if (!count.ok()) {
    const std::string lines = has_numbers_ ? absl::StrCat(" (lines before it: ", lines_before_, ")") : "";
    return {count.status().code(), absl::StrCat(count.status().message(), lines)};
  }
  end_ += *count;
  return absl::OkStatus();
}

}  // namespace glaive::engine
