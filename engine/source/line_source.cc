#include "engine/source/line_source.h"

#include "absl/strings/str_cat.h"

namespace glaive::engine {

absl::Status BadRecords::Add(const std::string& message) {
  first_ = count_ == 0 ? message : first_;
  ++count_;
  return policy_ == OnBadRecord::kSkip ? absl::OkStatus() : absl::FailedPreconditionError(message);
}

absl::Status BadRecords::Add(const LineReader& reader, const ParseError& error) {
  if (count_ > 0 && policy_ == OnBadRecord::kSkip) {  // only the first one's words are stored
    ++count_;
    return absl::OkStatus();
  }
  return Add(absl::StrCat(reader.Place(error.column), ": ", error.reason));
}

}  // namespace glaive::engine
