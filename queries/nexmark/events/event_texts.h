// EventTexts: the memory in which events are made: it owns their longer texts until it is cleared, and its blocks are
// used again. Owned by one thread.
//
//   EventTexts texts(kUrl);                        // the other texts are left empty
//   std::string& draft = texts.Begin();
//   draft += "https://...";
//   bid.url = texts.End(kUrl);                     // refers to a copy
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "queries/nexmark/events/event_options.h"
#include "state/record/text.h"
#include "state/record/text_arena.h"

namespace glaive::queries::nexmark::events {

class EventTexts {
 public:
  /// `wanted` is a set of Texts.
  explicit EventTexts(std::uint32_t wanted) : wanted_(wanted) {}

  bool Wants(std::uint32_t which) const { return (wanted_ & which) != 0; }

  /// An empty string to be filled, until End.
  std::string& Begin() {
    draft_.clear();
    return draft_;
  }
  const std::string& draft() const { return draft_; }
  /// The text of what the string has; empty if the text is not wanted.
  Text End(std::uint32_t which) { return Own(draft_, which); }
  Text Own(std::string_view bytes, std::uint32_t which) { return Wants(which) ? arena_.Own(Text(bytes)) : Text(); }

  /// The events that were made are not read any more.
  void Clear() { arena_.Clear(); }

 private:
  std::uint32_t wanted_;
  std::string draft_;
  state::TextArena arena_;
};

}  // namespace glaive::queries::nexmark::events
