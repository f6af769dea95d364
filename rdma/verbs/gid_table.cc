#include "rdma/verbs/gid_table.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <cstring>

#include <infiniband/verbs.h>

namespace glaive::rdma {
namespace {

GidType TypeOf(std::uint32_t type) {
  switch (type) {
    case IBV_GID_TYPE_ROCE_V2:
      return GidType::kRoceV2;
    case IBV_GID_TYPE_ROCE_V1:
      return GidType::kRoceV1;
    case IBV_GID_TYPE_IB:
      return GidType::kInfiniBand;
    default:
      return GidType::kOther;
  }
}

}  // namespace

const char* Name(GidType type) {
  switch (type) {
    case GidType::kRoceV2:
      return "RoCE v2";
    case GidType::kRoceV1:
      return "RoCE v1";
    case GidType::kInfiniBand:
      return "InfiniBand";
    case GidType::kOther:
      return "";
  }
  return "";
}

std::string Format(const Gid& gid) {
  char text[INET6_ADDRSTRLEN] = {};
  return ::inet_ntop(AF_INET6, gid.data(), text, sizeof(text)) == nullptr ? "" : text;
}

std::vector<GidEntry> ReadGidTable(ibv_context* context, std::size_t most) {
  std::vector<ibv_gid_entry> raw(most);
  const auto count = ibv_query_gid_table(context, raw.data(), raw.size(), /*flags=*/0);
  std::vector<GidEntry> table;
  for (std::size_t i = 0; count > 0 && i < static_cast<std::size_t>(count); ++i) {
    GidEntry& entry = table.emplace_back();
    entry.port = raw[i].port_num;
    entry.index = static_cast<std::int32_t>(raw[i].gid_index);
    entry.type = TypeOf(raw[i].gid_type);
    std::memcpy(entry.gid.data(), raw[i].gid.raw, entry.gid.size());
  }
  return table;
}

const GidEntry* FindGid(std::span<const GidEntry> table, std::uint32_t port, const Gid& gid) {
  const GidEntry* found = nullptr;
  for (const GidEntry& entry : table) {
    if (entry.port != port || entry.gid != gid) continue;
    if (found == nullptr || (found->type != GidType::kRoceV2 && entry.type == GidType::kRoceV2)) found = &entry;
  }
  return found;
}

}  // namespace glaive::rdma
