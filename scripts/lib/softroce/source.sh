# The kernel's source: which package, what is unpacked of it, and what is changed. Sourced by kernel.sh, which builds
# anew when a line here changes.
# shellcheck shell=bash

# Folders that aren't unpacked: most of the source, and nothing of it is compiled.
UNUSED_FOLDERS=(
  Documentation/{ABI,admin-guide,arch,devicetree,driver-api,filesystems,networking,userspace-api,translations}
  arch/{alpha,arc,arm,arm64,csky,hexagon,loongarch,m68k,microblaze,mips,nios2,openrisc,parisc,powerpc,riscv,s390,sh}
  arch/{sparc,xtensa}
  drivers/{accel,ata,bluetooth,clk,comedi,crypto,gpu,greybus,hid,hwmon,iio,input,isdn,md,media,mfd,misc,mmc,mtd}
  drivers/{nvme,phy,pinctrl,platform,power,regulator,s390,scsi,soc,staging,target,thunderbolt,usb,video}
  drivers/net/{can,dsa,ethernet,wireless} drivers/infiniband/{hw,ulp}
  fs/{afs,bcachefs,btrfs,ceph,ext4,f2fs,gfs2,jfs,nfs,nfsd,nilfs2,ntfs3,ocfs2,reiserfs,smb,ubifs,udf,xfs}
  rust samples sound tools/{accounting,perf,power,testing,tracing}
)

# source_package: the newest linux-source-6.x that apt offers (Debian 12 has 6.12 in its security suite), or nothing.
source_package() {
  apt-cache pkgnames linux-source-6 | { grep -xE 'linux-source-6(\.[0-9]+)+' || true; } | sort -V | tail -1
}

# source_version PACKAGE: the version that apt would fetch.
source_version() {
  apt-cache show --no-all-versions "$1" | sed -n 's/^Version: //p' | head -1
}

# source_name DEB: "linux-source-6.12" for "a_folder/linux-source-6.12_6.12.48-1_all.deb".
source_name() {
  local file="${1##*/}"
  printf '%s\n' "${file%%_*}"
}

# unpack_source DEB DIR: into DIR, which must not exist.
unpack_source() {
  local deb="$1" dir="$2" top folder file
  top="$(source_name "$deb")"
  mkdir "$dir"
  dpkg --fsys-tarfile "$deb" | tar -xO "./usr/src/$top.tar.xz" | xz -dc -T0 |
    tar -x -C "$dir" --strip-components=1 --anchored --no-wildcards "${UNUSED_FOLDERS[@]/#/--exclude=$top/}"

  # make wants to configure and to walk through these folders all the same.
  cd "$dir"
  for folder in "${UNUSED_FOLDERS[@]}"; do
    mkdir -p "$folder"
    touch "$folder/Makefile"
  done
  grep -rhoP --include='Kconfig*' '^\s*source "\K[^"$]+' . | sort -u | while read -r file; do
    [[ -e $file ]] || {
      mkdir -p "$(dirname "$file")"
      touch "$file"
    }
  done
}

# adapt_source DIR: the changes to the source; fails if one of them finds nothing to change.
adapt_source() {
  local um="$1/arch/um" x86="$1/arch/x86/um" vector="$1/arch/um/drivers/vector" rxe="$1/drivers/infiniband/sw/rxe"
  # With 100 ticks a second, processes that poll and yield wait 10 ms for each other.
  sed -i '/^config HZ$/,/^$/s/default 100$/default 1000/' "$um/Kconfig"
  grep -A3 '^config HZ$' "$um/Kconfig" | grep -q 'default 1000$' || return
  # Guest processes would survive a kernel that is killed, and go on with the host's system calls.
  sed -i 's/(void \*) PTRACE_O_TRACESYSGOOD)/(void *) (PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL))/' \
    "$um/os-Linux/skas/process.c"
  grep -q PTRACE_O_EXITKILL "$um/os-Linux/skas/process.c" || return
  # One that is just being made asks to be killed with the kernel: too late when that is gone already.
  sed -i -e 's/^static int userspace_tramp(/static int userspace_parent;\n&/' \
    -e 's/^\tos_set_pdeathsig();$/&\n\tif (getppid() != userspace_parent)\n\t\texit(1);/' \
    -e 's/^\tpid = clone(userspace_tramp,/\tuserspace_parent = os_getpid();\n&/' "$um/os-Linux/skas/process.c"
  (($(grep -c userspace_parent "$um/os-Linux/skas/process.c") == 3)) || return
  # Processors with AMX have 11008 bytes of registers, for which Linux before 6.13 has no room: no process would start.
  # KERNEL_STACK_ORDER leaves room for these on the stack.
  sed -i 's/DEFINE_LONGS(HOST_FP_SIZE, 2696)/DEFINE_LONGS(HOST_FP_SIZE, 12288)/' "$x86/user-offsets.c"
  ! grep -q '2696' "$x86/user-offsets.c" || return
  # The wire of a pair whose other end is closed, or reads no more, loses packets as a cut cable does: the driver would
  # use up its processor to try them again.
  sed -i '/^int uml_vector_sendmmsg(/,/^}/ s/^\tif (n >= 0)$/\tif (n < 0 \&\& (errno == ECONNREFUSED || errno == ECONNRESET || errno == ENOTCONN))\n\t\treturn vlen;\n&/' \
    "${vector}_user.c"
  sed -i '/^\tif (tx_enqueued || err > 0)$/ {
    s/.*/\tif (err <= 0 \&\& tx_enqueued)\n\t\tmod_timer(\&vp->tl, jiffies + 1);\n\tif (err > 0)/
  }' "${vector}_kern.c"
  grep -q ECONNREFUSED "${vector}_user.c" && grep -q 'jiffies + 1' "${vector}_kern.c" || return
  # Soft-RoCE places data in order. Programs that may not rely on that need a device that does not.
  cp "$SOFTROCE/rxe_reorder.h" "$rxe/"
  sed -i -e '/^#include "rxe_queue.h"$/a #include "rxe_reorder.h"' \
    -e '/^\terr = rxe_mr_copy(qp->resp.mr, qp->resp.va + qp->resp.offset,$/,/;$/c \\terr = rxe_reorder_write(qp, pkt);' \
    -e '/^static enum resp_states execute(/,/^}/ {
      s/^\tif (pkt->mask & RXE_SEND_MASK) {$/\tif (!(pkt->mask \& RXE_WRITE_MASK))\n\t\trxe_place_writes_of(qp);\n&/
      s/^\tif (pkt->mask & RXE_COMP_MASK)$/&\n\t\trxe_place_writes_of(qp);\n&/
    }' "$rxe/rxe_resp.c"
  (($(grep -c 'rxe_reorder\.h\|rxe_reorder_write(qp, pkt);\|rxe_place_writes_of(qp);' "$rxe/rxe_resp.c") == 4))
}
