#include "rdma/verbs/thread_domain.h"

#include <cstdint>

#include <infiniband/verbs.h>

namespace glaive::rdma {

const DomainCalls& DomainCalls::OfLibrary() {
  static constexpr DomainCalls kCalls = {.alloc_td = ibv_alloc_td,
                                         .dealloc_td = ibv_dealloc_td,
                                         .alloc_parent_domain = ibv_alloc_parent_domain,
                                         .dealloc_pd = ibv_dealloc_pd,
                                         .create_cq_ex = ibv_create_cq_ex,
                                         .create_cq = ibv_create_cq};
  return kCalls;
}

ThreadDomain::ThreadDomain(ibv_context* context, ibv_pd* protection_domain, const DomainCalls& calls)
    : context_(context), protection_domain_(protection_domain), calls_(&calls) {
  ibv_td_init_attr thread{};
  thread_domain_ = calls_->alloc_td(context_, &thread);
  if (thread_domain_ == nullptr) return;
  ibv_parent_domain_init_attr parent{};
  parent.pd = protection_domain_;
  parent.td = thread_domain_;
  parent_domain_ = calls_->alloc_parent_domain(context_, &parent);
}

ThreadDomain::~ThreadDomain() {
  if (parent_domain_ != nullptr) calls_->dealloc_pd(parent_domain_);
  if (thread_domain_ != nullptr) calls_->dealloc_td(thread_domain_);
}

// Providers differ in which attributes they take, and in the error for one that they do not.
ibv_cq* ThreadDomain::CreateCompletionQueue(int entries) const {
  ibv_cq_init_attr_ex attributes{};
  attributes.cqe = static_cast<std::uint32_t>(entries);
  attributes.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS;
  attributes.flags = IBV_CREATE_CQ_ATTR_SINGLE_THREADED;
  ibv_cq_ex* queue = nullptr;
  if (is_own()) {
    attributes.parent_domain = parent_domain_;
    attributes.comp_mask |= IBV_CQ_INIT_ATTR_MASK_PD;
    queue = calls_->create_cq_ex(context_, &attributes);
    attributes.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS;
    attributes.parent_domain = nullptr;
  }
  if (queue == nullptr) queue = calls_->create_cq_ex(context_, &attributes);
  if (queue != nullptr) return ibv_cq_ex_to_cq(queue);
  return calls_->create_cq(context_, entries, nullptr, nullptr, /*vector=*/0);
}

}  // namespace glaive::rdma
