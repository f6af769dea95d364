# The parts of a test run that need RDMA devices: a host's own, or emulated ones in a User-Mode Linux kernel. All with
# the preset dev. Sourced after sections.sh.
# shellcheck shell=bash

# The labels of tests that need a device, a lossy link or two hosts.
# shellcheck disable=SC2034  # for scripts/test
RDMA_LABELS='^rdma-'

# emulated_rdma_sections: makes the kernel where needed, and runs the tests over each kind of device and network.
emulated_rdma_sections() {
  local softroce="$PROJECT_ROOT/scripts/softroce"
  section "rdma: kernel" "$softroce" build
  if ! $SECTION_PASSED; then
    skip_section "rdma: tests" "there is no kernel with emulated devices"
    return
  fi
  # All of rdma/'s tests again, now on a kernel with a device, and all others that need one.
  guest_section "rdma: RoCE" rxe -L '^rdma(-device)?$'
  guest_section "rdma: iWARP" siw -L '^rdma-device$' -R 'ChannelStream|TransportOverVerbs|verbs_device_test'
  guest_section "rdma: lossy" lossy -L '^rdma-lossy$'
  test_section "rdma: two hosts" dev -L '^rdma-pair$'
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
  skip_section "rdma: lossy" "one device has no lossy link; scripts/test --rdma runs these tests"
  skip_section "rdma: two hosts" "one device is not two hosts; scripts/test --rdma runs these tests"
}
