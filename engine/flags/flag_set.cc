#include "engine/flags/flag_set.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"

#include "engine/flags/command_line.h"
#include "rdma/base/check.h"

namespace glaive::engine {
namespace {

constexpr int kUsageExitCode = 2;
constexpr std::size_t kHelpIndent = 32;
constexpr std::size_t kHelpColumns = 110;

// Appends "  --name=SIZE" and the help text beside it, broken into lines; `last`, if any, stays in one piece.
void AppendHelp(std::string& out, const std::string& left, const std::string& text, const std::string& last) {
  std::string line = absl::StrCat("  ", left);
  if (line.size() + 2 > kHelpIndent) {
    absl::StrAppend(&out, line, "\n");
    line.clear();
  }
  line.resize(kHelpIndent, ' ');
  std::vector<absl::string_view> pieces = absl::StrSplit(text, ' ');
  if (!last.empty()) pieces.emplace_back(last);
  std::size_t words = 0;
  for (const absl::string_view word : pieces) {
    if (words > 0 && line.size() + 1 + word.size() > kHelpColumns) {
      absl::StrAppend(&out, line, "\n");
      line.assign(kHelpIndent, ' ');
      words = 0;
    }
    absl::StrAppend(&line, words == 0 ? "" : " ", word);
    ++words;
  }
  absl::StrAppend(&out, line, "\n");
}

// The text with control characters written as \x0a. A message is one line, and the value that it quotes may have any.
std::string InOneLine(absl::string_view text) {
  std::string line;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < ' ' || byte == 0x7f) {
      absl::StrAppend(&line, "\\x", absl::Hex(byte, absl::kZeroPad2));
    } else {
      line.push_back(c);
    }
  }
  return line;
}

}  // namespace

void FlagSet::Add(Flag flag) {
  GLAIVE_CHECK(Find(flag.info.name) == nullptr, "flag --", flag.info.name, " is registered twice");
  flags_.push_back(std::move(flag));
}

Flag* FlagSet::Find(std::string_view name) {
  for (Flag& flag : flags_) {
    if (flag.info.name == name) return &flag;
  }
  return nullptr;
}

std::optional<int> FlagSet::Parse(int argc, const char* const* argv, std::ostream& out, std::ostream& err) {
  std::vector<FlagShape> shapes;
  for (const Flag& flag : flags_) {
    shapes.push_back({.name = flag.info.name, .is_switch = flag.is_switch});
  }
  const absl::StatusOr<CommandLine> line = ParseCommandLine(argc, argv, shapes);
  if (!line.ok()) return UsageError(line.status(), err);
  if (line->help) {
    out << HelpText();
    return 0;
  }
  if (line->version) {
    out << VersionText();
    return 0;
  }
  if (absl::Status status = Assign(line->given); !status.ok()) return UsageError(status, err);
  for (const auto& check : checks_) {
    if (absl::Status status = check(); !status.ok()) return UsageError(status, err);
  }
  return std::nullopt;
}

absl::Status FlagSet::Assign(const std::vector<std::pair<std::string, std::string>>& given) {
  for (const auto& [name, text] : given) {
    Flag* flag = Find(name);
    GLAIVE_CHECK(flag != nullptr, "no flag --", name);
    flag->given = true;
    if (absl::Status status = flag->set(text); !status.ok()) {
      return absl::InvalidArgumentError(absl::StrCat("--", name, "=", text, ": ", status.message()));
    }
  }
  return absl::OkStatus();
}

int FlagSet::UsageError(const absl::Status& status, std::ostream& err) const {
  err << info_.program << ": " << InOneLine(status.message()) << " (" << info_.program << " --help lists all flags)\n";
  return kUsageExitCode;
}

std::map<std::string, std::string> FlagSet::Settings() const {
  std::map<std::string, std::string> settings;
  for (const Flag& flag : flags_) {
    if (flag.info.scope != FlagScope::kShared) continue;
    if (const std::optional<std::string> value = flag.get()) settings[flag.info.name] = *value;
  }
  return settings;
}

std::map<std::string, std::string> FlagSet::AllSettings() const {
  std::map<std::string, std::string> settings;
  for (const Flag& flag : flags_) {
    if (const std::optional<std::string> value = flag.get()) settings[flag.info.name] = *value;
  }
  return settings;
}

std::vector<NamedFile> FlagSet::NamedFiles() const {
  std::vector<NamedFile> files;
  for (const Flag& flag : flags_) {
    const std::string path = flag.get().value_or("");
    if (flag.info.file != FileUse::kNone && !path.empty()) {
      files.push_back({.flag = flag.info.name, .path = path, .use = flag.info.file});
    }
  }
  return files;
}

bool FlagSet::WasGiven(std::string_view name) const {
  for (const Flag& flag : flags_) {
    if (flag.info.name == name) return flag.given;
  }
  CheckFailed(__FILE__, __LINE__, "registered", absl::StrCat("no flag --", std::string(name)));
}

std::string FlagSet::HelpText() const {
  std::string text =
      absl::StrCat(info_.summary, info_.summary.empty() ? "" : "\n\n", "Usage: ", info_.program, " [--flag=value]...\n",
                   "Sizes are written as 64KiB, times as 10ms; whole numbers may end in k, M or G. The "
                   "last of several values counts.\n");
  std::vector<std::string> groups;
  for (const Flag& flag : flags_) {
    if (std::find(groups.begin(), groups.end(), flag.info.group) == groups.end()) groups.push_back(flag.info.group);
  }
  for (const std::string& group : groups) {
    absl::StrAppend(&text, "\n", group, ":\n");
    for (const Flag& flag : flags_) {
      if (flag.info.group != group) continue;
      const std::string value = flag.is_switch ? "" : absl::StrCat("=", flag.placeholder);
      const std::string shown_default = flag.default_text.empty() ? "none" : flag.default_text;
      AppendHelp(text, absl::StrCat("--", flag.info.name, value), flag.info.help,
                 absl::StrCat("[default: ", shown_default, "]"));
    }
  }
  absl::StrAppend(&text, "\nHelp:\n");
  AppendHelp(text, "--help", "show this text and exit", "");
  AppendHelp(text, "--version", "show version and commit and exit", "");
  return text;
}

std::string FlagSet::VersionText() const {
  return absl::StrCat(info_.program, " ", info_.version, " (commit ", info_.commit, ")\n");
}

}  // namespace glaive::engine
