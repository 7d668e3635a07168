/** A filter in the words of the OCI runtime specification. */
export interface SeccompFilter {
  readonly defaultAction: string;
  readonly defaultErrnoRet: number;
  readonly architectures: readonly string[];
  readonly syscalls: ReadonlyArray<{
    readonly names: readonly string[];
    readonly action: string;
    readonly errnoRet?: number;
    readonly args?: ReadonlyArray<{
      readonly index: number;
      readonly value: number;
      readonly valueTwo?: number;
      readonly op: string;
    }>;
  }>;
}

const EPERM = 1;
const ENOSYS = 38;

/** The flags of clone(2) that make a namespace: mount, cgroup, uts, ipc, user, pid, net. */
const CLONE_NEW_MASK = 0x7e020000;

/** Families of socket(2): unix, IPv4, IPv6, netlink (which getifaddrs needs). No packet, vsock, alg, bluetooth... */
const SOCKET_FAMILIES = [1, 2, 10, 16];

/** Values of personality(2) that only change what uname and address layout say. */
const PERSONALITIES = [0x0, 0x0008, 0x20000, 0x20008, 0x40000, 0xffffffff];

const FILES = `access chdir chmod chown close close_range copy_file_range creat dup dup2 dup3 faccessat faccessat2
fadvise64 fallocate fchdir fchmod fchmodat fchmodat2 fchown fchownat fcntl fdatasync fgetxattr flistxattr flock
fremovexattr fsetxattr fstat fstatfs fsync ftruncate futimesat getcwd getdents getdents64 getxattr getxattrat
inotify_add_watch inotify_init inotify_init1 inotify_rm_watch ioctl lchown lgetxattr link linkat listxattr
listxattrat llistxattr lremovexattr lseek lsetxattr lstat mkdir mkdirat mknod mknodat newfstatat open openat openat2
pread64 preadv preadv2 pwrite64 pwritev pwritev2 read readahead readlink readlinkat readv removexattr removexattrat
rename renameat renameat2 rmdir sendfile setxattr setxattrat splice stat statfs statx symlink symlinkat sync
sync_file_range syncfs tee truncate umask unlink unlinkat utime utimensat utimes vmsplice write writev
name_to_handle_at chroot cachestat`;

const MEMORY = `brk madvise map_shadow_stack membarrier memfd_create memfd_secret mincore mlock mlock2 mlockall mmap
mprotect mremap mseal msync munlock munlockall munmap pkey_alloc pkey_free pkey_mprotect process_madvise
process_mrelease remap_file_pages get_mempolicy`;

const PROCESSES = `alarm arch_prctl capget capset execve execveat exit exit_group fork futex futex_requeue futex_wait
futex_waitv futex_wake get_robust_list get_thread_area getcpu getegid geteuid getgid getgroups getitimer getpgid
getpgrp getpid getppid getpriority getresgid getresuid getrlimit getrusage getsid gettid getuid ioprio_get ioprio_set
kill landlock_add_rule landlock_create_ruleset landlock_restrict_self pause pidfd_getfd pidfd_open pidfd_send_signal
prctl prlimit64 process_vm_readv process_vm_writev ptrace restart_syscall rseq rt_sigaction rt_sigpending
rt_sigprocmask rt_sigqueueinfo rt_sigreturn rt_sigsuspend rt_sigtimedwait rt_tgsigqueueinfo sched_get_priority_max
sched_get_priority_min sched_getaffinity sched_getattr sched_getparam sched_getscheduler sched_rr_get_interval
sched_setaffinity sched_setattr sched_setparam sched_setscheduler sched_yield seccomp set_robust_list set_thread_area
set_tid_address setfsgid setfsuid setgid setgroups setitimer setpgid setpriority setregid setresgid setresuid
setreuid setrlimit setsid setuid sigaltstack signalfd signalfd4 sysinfo tgkill time times tkill uname vfork wait4
waitid getrandom`;

const COMMUNICATION = `accept accept4 bind connect epoll_create epoll_create1 epoll_ctl epoll_ctl_old epoll_pwait
epoll_pwait2 epoll_wait epoll_wait_old eventfd eventfd2 getpeername getsockname getsockopt io_cancel io_destroy
io_getevents io_pgetevents io_setup io_submit listen mq_getsetattr mq_notify mq_open mq_timedreceive mq_timedsend
mq_unlink msgctl msgget msgrcv msgsnd pipe pipe2 poll ppoll pselect6 recvfrom recvmmsg recvmsg select semctl semget
semop semtimedop sendmmsg sendmsg sendto setsockopt shmat shmctl shmdt shmget shutdown socketpair`;

const TIME = `clock_getres clock_gettime clock_nanosleep gettimeofday nanosleep timer_create timer_delete
timer_getoverrun timer_gettime timer_settime timerfd_create timerfd_gettime timerfd_settime`;

/**
 * Calls that lead out of a box, or into parts of the kernel with a record of doing so. They answer EPERM;
 * calls that this list does not know answer ENOSYS, so that newer C libraries fall back to older calls.
 */
const REFUSED = `acct add_key adjtimex bpf clock_adjtime clock_settime create_module delete_module fanotify_init
fanotify_mark finit_module fsconfig fsmount fsopen fspick get_kernel_syms init_module io_uring_enter
io_uring_register io_uring_setup ioperm iopl kcmp kexec_file_load kexec_load keyctl listmount lookup_dcookie mbind
migrate_pages modify_ldt mount mount_setattr move_mount move_pages nfsservctl open_by_handle_at open_tree
perf_event_open pivot_root query_module quotactl quotactl_fd reboot request_key set_mempolicy
set_mempolicy_home_node setdomainname sethostname setns settimeofday statmount stime swapoff swapon sysfs syslog
umount umount2 unshare uselib userfaultfd ustat vhangup vserver`;

const words = (text: string): string[] => text.split(/\s+/).filter(Boolean);

/**
 * What commands in boxes may ask of the kernel: a list of what is allowed, about that of the container
 * engines, without the calls that only privileged programs use and without foreign architectures.
 */
export function seccompFilter(architecture: string = process.arch): SeccompFilter {
  const allow = 'SCMP_ACT_ALLOW';
  const refuse = { action: 'SCMP_ACT_ERRNO', errnoRet: EPERM };
  const equal = (value: number) => [{ index: 0, value, op: 'SCMP_CMP_EQ' }];
  return {
    defaultAction: 'SCMP_ACT_ERRNO',
    defaultErrnoRet: ENOSYS,
    architectures: [architecture === 'arm64' ? 'SCMP_ARCH_AARCH64' : 'SCMP_ARCH_X86_64'],
    syscalls: [
      { names: [FILES, MEMORY, PROCESSES, COMMUNICATION, TIME].flatMap(words), action: allow },
      { names: words(REFUSED), ...refuse },
      ...PERSONALITIES.map((value) => ({ names: ['personality'], action: allow, args: equal(value) })),
      ...SOCKET_FAMILIES.map((value) => ({ names: ['socket'], action: allow, args: equal(value) })),
      {
        names: ['clone'],
        action: allow,
        args: [{ index: 0, value: CLONE_NEW_MASK, valueTwo: 0, op: 'SCMP_CMP_MASKED_EQ' }],
      },
      // Its flags are behind a pointer that a filter cannot follow: C libraries use clone instead.
      { names: ['clone3'], action: 'SCMP_ACT_ERRNO', errnoRet: ENOSYS },
    ],
  };
}
