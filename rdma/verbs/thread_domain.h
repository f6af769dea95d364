// ThreadDomain: an executor's own part of a device: a thread domain, and a parent domain that joins it to the node's
// protection domain.
//
// Queue pairs, shared receive queues and completion queues that are made with it are used by one thread at a time. A
// device with thread domains gives the queue pairs a doorbell of their own and takes no lock to post (mlx5). On other
// devices (Soft-RoCE, soft-iWARP) all are made with the node's protection domain. Memory is registered with the
// protection domain, whose keys hold for all queue pairs of the node. Owned by a VerbsTransport; destroyed after all
// objects that were made with it.
//
//   ThreadDomain domain(device.context(), device.protection_domain());
//   ibv_cq* completions = domain.CreateCompletionQueue(256);
//   rdma_create_qp(id, domain.protection_domain(), &attributes);
#pragma once

struct ibv_comp_channel;
struct ibv_context;
struct ibv_cq;
struct ibv_cq_ex;
struct ibv_cq_init_attr_ex;
struct ibv_parent_domain_init_attr;
struct ibv_pd;
struct ibv_td;
struct ibv_td_init_attr;

namespace glaive::rdma {

/// The calls of libibverbs that a ThreadDomain makes, so that a test can bring a device that has thread domains.
struct DomainCalls {
  ibv_td* (*alloc_td)(ibv_context* context, ibv_td_init_attr* attributes);
  int (*dealloc_td)(ibv_td* domain);
  ibv_pd* (*alloc_parent_domain)(ibv_context* context, ibv_parent_domain_init_attr* attributes);
  int (*dealloc_pd)(ibv_pd* domain);
  ibv_cq_ex* (*create_cq_ex)(ibv_context* context, ibv_cq_init_attr_ex* attributes);
  ibv_cq* (*create_cq)(ibv_context* context, int entries, void* cq_context, ibv_comp_channel* channel, int vector);

  static const DomainCalls& OfLibrary();
};

/// See the head of this file.
class ThreadDomain {
 public:
  /// `protection_domain` outlives it, `calls` too. Where the device has no thread domain left, or never had one, this
  /// one stands for `protection_domain` alone.
  ThreadDomain(ibv_context* context, ibv_pd* protection_domain, const DomainCalls& calls = DomainCalls::OfLibrary());
  ThreadDomain(const ThreadDomain&) = delete;
  ThreadDomain& operator=(const ThreadDomain&) = delete;
  ~ThreadDomain();

  /// Whether the device gave one.
  bool is_own() const { return parent_domain_ != nullptr; }
  /// For what is made with this domain: the parent domain, or the protection domain where there is none.
  ibv_pd* protection_domain() const { return is_own() ? parent_domain_ : protection_domain_; }
  /// A completion queue with room for `entries`, for one thread at a time; null with the reason in errno. The caller
  /// destroys it.
  ibv_cq* CreateCompletionQueue(int entries) const;

 private:
  ibv_context* context_;
  ibv_pd* protection_domain_;
  const DomainCalls* calls_;
  ibv_td* thread_domain_ = nullptr;
  ibv_pd* parent_domain_ = nullptr;
};

}  // namespace glaive::rdma
