// ParseYsbJson: a line of JSON as the Yahoo Streaming Benchmark's own generator writes it to Kafka, for a LineSource.
//
//   {"user_id": "<UUID>", "page_id": "<UUID>", "ad_id": "<UUID>", "ad_type": "banner", "event_type": "view",
//    "event_time": "1480452812345", "ip_address": "1.2.3.4"}            (on one line)
//
// The seven fields must be there once each, in any order; others are passed over. ad_type is banner, modal,
// sponsored-search, mail or mobile; event_type is view, click or purchase. event_time is milliseconds since 1970, as a
// string or a number, up to the year 9999: a garbled one must not move a watermark to the end of time. The event's
// ad_id becomes the UUID's first 8 bytes, as in campaigns.h; 1.2.3.4 becomes 0x01020304; record_number counts the
// records of this parser, one executor's, from 0.
//
// Costs about 4 us a line, 60 MB/s, nearly all of it nlohmann::json's lexer.
//
//   From(Lines<YsbEvent>(files, ParseYsbJson{}, [](const YsbEvent& event) { return event.event_time_ms; }))...
#pragma once

#include <cstdint>
#include <string_view>

#include "engine/format/line_parser.h"
#include "queries/ysb/ysb_event.h"

namespace glaive::queries::ysb {

class ParseYsbJson {
 public:
  engine::Parsed operator()(std::string_view line, YsbEvent& event, engine::ParseError& error);

 private:
  std::uint64_t records_ = 0;
};

}  // namespace glaive::queries::ysb
