# The parts of a test run that need RDMA devices: a host's own, or emulated ones in a User-Mode Linux kernel. All with
# the preset dev. Sourced after sections.sh.
# shellcheck shell=bash

# The labels of tests that need a device, a lossy link or two hosts.
# shellcheck disable=SC2034  # for scripts/test
RDMA_LABELS='^rdma-'

# Whether there is a kernel with emulated devices: kernel_section finds out.
RDMA_KERNEL=false

# kernel_section: makes the kernel where needed.
kernel_section() {
  section "rdma: kernel" "$PROJECT_ROOT/scripts/softroce" build
  RDMA_KERNEL=$SECTION_PASSED
}

# emulated_rdma_sections: after kernel_section; runs the tests over each kind of device and network.
emulated_rdma_sections() {
  if ! $RDMA_KERNEL; then
    skip_section "rdma: tests" "there is no kernel with emulated devices"
    return
  fi
  # A guest is one processor's work, and losing nodes takes as long as all the rest.
  guest_section "rdma: RoCE" rxe -L '^rdma-device$' -E lost_node_device_test \
    --beside -L '^rdma-device$' -R lost_node_device_test
  guest_section "rdma: iWARP" siw -L '^rdma-device$' \
    -R 'ChannelStream|ConnectOverVerbs|ExchangesOverVerbs|TransportOverVerbs|verbs_device_test' \
    --beside -L '^rdma-device$' -R lost_node_device_test
  guest_section "rdma: lossy" lossy -L '^rdma-lossy$'
  test_section "rdma: two hosts" dev -L '^rdma-pair$'
}

# readme_section: the README's command for a machine without a device, once the preset release is built.
readme_section() {
  section "rdma: README" "$PROJECT_ROOT/scripts/softroce" run "$PROJECT_ROOT/scripts/run" ysb --nodes=2 --transport=verbs --records=100000 \
    --verify
}

# guest_section TITLE PROFILE CTEST ARGUMENT...: tests in a kernel with the network PROFILE of scripts/softroce.
guest_section() {
  CTEST_RUNNER=("$PROJECT_ROOT/scripts/softroce" run --profile "$2")
  test_section "$1" dev "${@:3}"
  # shellcheck disable=SC2034  # test_section reads it
  CTEST_RUNNER=()
}

# device_section NAME: the tests that need a device, on this host's.
device_section() {
  export GLAIVE_TEST_DEVICE="$1"
  test_section "rdma: $1" dev -L '^rdma-device$'
  leave_out "rdma: lossy" "one device has no lossy link; scripts/test --rdma runs these tests"
  leave_out "rdma: two hosts" "one device is not two hosts; scripts/test --rdma runs these tests"
}
