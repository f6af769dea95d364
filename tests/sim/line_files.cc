#include "tests/sim/line_files.h"

#include <optional>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"

#include "engine/sink/csv.h"
#include "engine/sink/json_lines.h"
#include "engine/sink/text_lines.h"
#include "rdma/base/check.h"
#include "state/record/record.h"
#include "state/record/text.h"

namespace glaive::sim {
namespace {

constexpr std::string_view kHeader = "kind,text";

/// A row as an object of JSON.
struct JsonLine {
  Text kind;
  Text text;
};
GLAIVE_RECORD(JsonLine, kind, text)

}  // namespace
}  // namespace glaive::sim

template <>
struct glaive::engine::CsvRow<glaive::sim::RowLine> {
  static std::string Header() { return std::string(glaive::sim::kHeader); }
  static void Append(std::string& line, const glaive::sim::RowLine& row) {
    line += row.kind;
    line += row.text;
  }
};

namespace glaive::sim {
namespace {

/// Rows in the form that a sink takes them. Their texts are those of the rows.
class AsCsvLines {
 public:
  std::span<const RowLine> operator()(std::span<const RowLine> rows) { return rows; }
};

class AsTexts {
 public:
  std::span<const Text> operator()(std::span<const RowLine> rows) {
    lines_.clear();
    for (const RowLine& row : rows) lines_.push_back(absl::StrCat(std::string(row.kind), row.text));
    texts_.clear();
    for (const std::string& line : lines_) texts_.push_back(Text(std::string_view(line)));
    return texts_;
  }

 private:
  std::vector<std::string> lines_;
  std::vector<Text> texts_;
};

class AsJsonLines {
 public:
  std::span<const JsonLine> operator()(std::span<const RowLine> rows) {
    lines_.clear();
    for (const RowLine& row : rows) {
      lines_.push_back({.kind = Text(row.kind), .text = Text(std::string_view(row.text))});
    }
    return lines_;
  }

 private:
  std::vector<JsonLine> lines_;
};

/// Wraps the engine's sink of lines that are a `Row` each, which `Format` writes and `Convert` makes.
template <typename Row, typename Format, typename Convert>
class LineFileOf final : public LineFile {
 public:
  explicit LineFileOf(std::unique_ptr<engine::Sink<Row>> sink) : sink_(std::move(sink)) {}

  bool Idle() const override { return static_cast<const engine::FileSink<Row, Format>&>(*sink_).Idle(); }
  bool Ready() override { return sink_->Ready(); }
  absl::Status Write(std::span<const RowLine> rows) override { return sink_->Write(convert_(rows)); }
  void Complete(std::optional<std::int64_t> until_ms) override { sink_->Complete(until_ms); }
  bool WantsToPublish(std::int64_t now_ns) const override { return sink_->WantsToPublish(now_ns); }
  absl::Status Publish(std::int64_t now_ns) override { return sink_->Publish(now_ns); }
  absl::StatusOr<bool> TryFinish() override { return sink_->TryFinish(); }
  void AddParts(std::vector<engine::ResultPart>& parts) const override { sink_->AddParts(parts); }
  absl::Status Commit() override { return sink_->Commit(); }

 private:
  std::unique_ptr<engine::Sink<Row>> sink_;
  Convert convert_;
};

template <typename Row, typename Format, typename Convert, typename Spec>
absl::StatusOr<std::unique_ptr<LineFile>> OpenAs(const Spec& spec, const engine::SinkContext& context) {
  absl::StatusOr<std::unique_ptr<engine::Sink<Row>>> sink = spec.template Factory<Row>()(context);
  if (!sink.ok()) return sink.status();
  return std::make_unique<LineFileOf<Row, Format, Convert>>(*std::move(sink));
}

/// The kind that a line begins with, which it loses; empty if it is of none.
std::string_view TakeKind(std::string_view& line) {
  for (const std::string_view kind : {kRowLine, kLateLine}) {
    if (line.starts_with(kind)) {
      line.remove_prefix(kind.size());
      return kind;
    }
  }
  return "";
}

/// Removes what encloses the kind and the text of a row in JSON. No row has a character that JSON writes in another
/// way.
bool TakeOutOfJson(std::string_view& line, std::string& plain) {
  constexpr std::string_view kBegin = R"({"kind":")";
  constexpr std::string_view kBetween = R"(","text":")";
  constexpr std::string_view kEnd = R"("})";
  const std::size_t between = line.find(kBetween);
  if (!line.starts_with(kBegin) || !line.ends_with(kEnd) || between == std::string_view::npos) return false;
  plain = line.substr(kBegin.size(), between - kBegin.size());
  const std::size_t text = between + kBetween.size();
  plain += line.substr(text, line.size() - kEnd.size() - text);
  line = plain;
  return true;
}

bool IsJson(std::string_view name) { return name.find(kFileEndings[2]) != std::string_view::npos; }
bool IsText(std::string_view name) { return name.find(kFileEndings[1]) != std::string_view::npos; }

}  // namespace

absl::StatusOr<std::unique_ptr<LineFile>> OpenLineFile(const std::string& path, const engine::SinkContext& context) {
  if (IsJson(path)) {
    return OpenAs<JsonLine, engine::JsonRow<JsonLine>, AsJsonLines>(engine::JsonLines{path}, context);
  }
  if (IsText(path)) return OpenAs<Text, engine::TextRow<Text>, AsTexts>(engine::TextLines{path}, context);
  GLAIVE_CHECK(path.find(kFileEndings[0]) != std::string::npos, "no file of results: ", path);
  return OpenAs<RowLine, engine::CsvRow<RowLine>, AsCsvLines>(engine::Csv{path}, context);
}

std::optional<std::vector<RowLine>> ParseLines(std::string_view name, std::string_view text) {
  std::vector<RowLine> rows;
  bool expects_header = !IsJson(name) && !IsText(name);
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return std::nullopt;
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    if (std::exchange(expects_header, false)) {
      if (line != kHeader) return std::nullopt;
      continue;
    }
    std::string plain;
    if (IsJson(name) && !TakeOutOfJson(line, plain)) return std::nullopt;
    const std::string_view kind = TakeKind(line);
    if (kind.empty()) return std::nullopt;
    rows.push_back({.kind = kind, .text = std::string(line)});
  }
  return expects_header ? std::nullopt : std::optional(std::move(rows));
}

}  // namespace glaive::sim
