// What is asked of devices with and without thread domains. No emulated device has them, so these are made up.

#include "rdma/verbs/thread_domain.h"

#include <cerrno>
#include <optional>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <infiniband/verbs.h>

#include "tests/rdma/test_device.h"

namespace glaive::rdma {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// A device, and what it was asked for.
struct FakeDevice {
  bool has_thread_domains = true;
  bool has_parent_domains = true;
  unsigned known_cq_attributes = IBV_CQ_INIT_ATTR_MASK_FLAGS | IBV_CQ_INIT_ATTR_MASK_PD;
  bool has_extended_cqs = true;

  ibv_context context{};
  ibv_pd protection_domain{};
  ibv_td thread_domain{};
  ibv_pd parent_domain{};
  ibv_cq_ex extended_cq{};
  ibv_cq cq{};
  ibv_parent_domain_init_attr asked_parent{};
  std::optional<ibv_cq_init_attr_ex> made_cq;
  std::vector<std::string> freed;
};

FakeDevice* fake = nullptr;

template <typename Object>
Object* Unsupported(int error = EOPNOTSUPP) {
  errno = error;
  return nullptr;
}

constexpr DomainCalls kFakeCalls = {
    .alloc_td = [](ibv_context* /*context*/, ibv_td_init_attr* attributes) -> ibv_td* {
      EXPECT_EQ(attributes->comp_mask, 0U);
      return fake->has_thread_domains ? &fake->thread_domain : Unsupported<ibv_td>();
    },
    .dealloc_td =
        [](ibv_td* domain) {
          fake->freed.push_back(domain == &fake->thread_domain ? "thread domain" : "?");
          return 0;
        },
    .alloc_parent_domain = [](ibv_context* /*context*/, ibv_parent_domain_init_attr* attributes) -> ibv_pd* {
      fake->asked_parent = *attributes;
      return fake->has_parent_domains ? &fake->parent_domain : Unsupported<ibv_pd>(ENOSYS);
    },
    .dealloc_pd =
        [](ibv_pd* domain) {
          fake->freed.push_back(domain == &fake->parent_domain ? "parent domain" : "?");
          return 0;
        },
    .create_cq_ex = [](ibv_context* /*context*/, ibv_cq_init_attr_ex* attributes) -> ibv_cq_ex* {
      if (!fake->has_extended_cqs) return Unsupported<ibv_cq_ex>();
      if ((attributes->comp_mask & ~fake->known_cq_attributes) != 0) return Unsupported<ibv_cq_ex>(EINVAL);
      fake->made_cq = *attributes;
      return &fake->extended_cq;
    },
    .create_cq =
        [](ibv_context* /*context*/, int entries, void* /*cq_context*/, ibv_comp_channel* channel, int /*vector*/) {
          EXPECT_EQ(channel, nullptr);
          fake->cq.cqe = entries;
          return &fake->cq;
        }};

class ThreadDomainTest : public ::testing::Test {
 protected:
  void SetUp() override { fake = &device_; }
  void TearDown() override { fake = nullptr; }

  ThreadDomain Make() { return {&device_.context, &device_.protection_domain, kFakeCalls}; }

  FakeDevice device_;
};

TEST_F(ThreadDomainTest, JoinsAThreadDomainToTheNodesProtectionDomain) {
  {
    const ThreadDomain domain = Make();
    EXPECT_TRUE(domain.is_own());
    EXPECT_EQ(domain.protection_domain(), &device_.parent_domain);
    EXPECT_EQ(device_.asked_parent.pd, &device_.protection_domain);
    EXPECT_EQ(device_.asked_parent.td, &device_.thread_domain);
    EXPECT_EQ(device_.asked_parent.comp_mask, 0U);
    EXPECT_THAT(device_.freed, IsEmpty());
  }
  EXPECT_THAT(device_.freed, ElementsAre("parent domain", "thread domain")) << "a domain in use cannot be freed";
}

TEST_F(ThreadDomainTest, CompletionQueuesAreOfItsThread) {
  const ThreadDomain domain = Make();
  EXPECT_EQ(domain.CreateCompletionQueue(77), ibv_cq_ex_to_cq(&device_.extended_cq));
  EXPECT_EQ(device_.made_cq->cqe, 77U);
  EXPECT_EQ(device_.made_cq->comp_mask, IBV_CQ_INIT_ATTR_MASK_FLAGS | IBV_CQ_INIT_ATTR_MASK_PD);
  EXPECT_EQ(device_.made_cq->flags, IBV_CREATE_CQ_ATTR_SINGLE_THREADED);
  EXPECT_EQ(device_.made_cq->parent_domain, &device_.parent_domain);
}

TEST_F(ThreadDomainTest, WithoutThreadDomainsTheProtectionDomainIsUsed) {
  device_.has_thread_domains = false;
  {
    const ThreadDomain domain = Make();
    EXPECT_FALSE(domain.is_own());
    EXPECT_EQ(domain.protection_domain(), &device_.protection_domain);
    EXPECT_EQ(domain.CreateCompletionQueue(5), ibv_cq_ex_to_cq(&device_.extended_cq));
    EXPECT_EQ(device_.made_cq->comp_mask, IBV_CQ_INIT_ATTR_MASK_FLAGS);
    EXPECT_EQ(device_.made_cq->flags, IBV_CREATE_CQ_ATTR_SINGLE_THREADED);
  }
  EXPECT_THAT(device_.freed, IsEmpty()) << "the protection domain is the node's";
}

TEST_F(ThreadDomainTest, WithoutParentDomainsTheThreadDomainGoesBack) {
  device_.has_parent_domains = false;
  {
    const ThreadDomain domain = Make();
    EXPECT_FALSE(domain.is_own());
    EXPECT_EQ(domain.protection_domain(), &device_.protection_domain);
  }
  EXPECT_THAT(device_.freed, ElementsAre("thread domain"));
}

TEST_F(ThreadDomainTest, AProviderThatTakesNoParentDomainForACompletionQueueIsAskedWithout) {
  device_.known_cq_attributes = IBV_CQ_INIT_ATTR_MASK_FLAGS;
  EXPECT_EQ(Make().CreateCompletionQueue(5), ibv_cq_ex_to_cq(&device_.extended_cq));
  EXPECT_EQ(device_.made_cq->comp_mask, IBV_CQ_INIT_ATTR_MASK_FLAGS);
  EXPECT_EQ(device_.made_cq->parent_domain, nullptr);
}

TEST_F(ThreadDomainTest, AProviderWithoutExtendedCompletionQueuesMakesAnOrdinaryOne) {
  device_.has_extended_cqs = false;
  EXPECT_EQ(Make().CreateCompletionQueue(33), &device_.cq);
  EXPECT_EQ(device_.cq.cqe, 33);
}

TEST(ThreadDomainOverVerbs, IsWhatTheDeviceIsSaidToHave) {
  const std::shared_ptr<VerbsDevice> device = OpenTestDevice();
  const ThreadDomain domain(device->context(), device->protection_domain());
  EXPECT_EQ(domain.is_own(), device->info().has_thread_domains);
  ibv_cq* const queue = domain.CreateCompletionQueue(16);
  ASSERT_NE(queue, nullptr);
  EXPECT_GE(queue->cqe, 16);
  ibv_destroy_cq(queue);
}

}  // namespace
}  // namespace glaive::rdma
