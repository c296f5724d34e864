0000  ld   [4]                      ; arch
0001  jeq  #0xc000003e  0002 0005   ; AUDIT_ARCH_X86_64
0002  ld   [0]                      ; system call
0003  jge  #0x40000000  0004 0007   ; x32
0004  jeq  #0xffffffff  0006 0005
0005  ret  #0x80000000              ; KILL_PROCESS
0006  ret  #0x00050026              ; ERRNO(38 ENOSYS)
0007  jge  #0xe4        0150 0008   ; clock_gettime
0008  jge  #0x88        0121 0009   ; ustat
0009  jge  #0x55        0087 0010   ; creat
0010  jge  #0x2a        0069 0011   ; connect
0011  jge  #0x10        0018 0012   ; ioctl
0012  jge  #0x2         0013 0096   ; open
0013  jge  #0x3         0096 0014   ; close
0014  ld   [24]                     ; argument 1, low word
0015  jset #0x400040    0016 0096
0016  ld   [32]                     ; argument 2, low word
0017  jset #0x800       0095 0096
0018  jge  #0x11        0023 0019   ; pread64
0019  ld   [24]                     ; argument 1, low word
0020  jeq  #0x5412      0095 0021
0021  jeq  #0x541c      0095 0022
0022  jeq  #0x5423      0095 0096
0023  jge  #0x29        0024 0096   ; socket
0024  ld   [16]                     ; argument 0, low word
0025  jeq  #0x1         0029 0026
0026  jeq  #0x2         0029 0027
0027  jeq  #0xa         0029 0028
0028  jeq  #0x10        0029 0077
0029  jeq  #0x10        0030 0033
0030  ld   [32]                     ; argument 2, low word
0031  jeq  #0x0         0032 0068
0032  ld   [16]                     ; argument 0, low word
0033  jeq  #0x2         0034 0038
0034  ld   [24]                     ; argument 1, low word
0035  and  #0xf
0036  jeq  #0x3         0095 0037
0037  ld   [16]                     ; argument 0, low word
0038  jeq  #0x2         0039 0043
0039  ld   [24]                     ; argument 1, low word
0040  and  #0xf
0041  jeq  #0xa         0095 0042
0042  ld   [16]                     ; argument 0, low word
0043  jeq  #0xa         0044 0048
0044  ld   [24]                     ; argument 1, low word
0045  and  #0xf
0046  jeq  #0x3         0095 0047
0047  ld   [16]                     ; argument 0, low word
0048  jeq  #0xa         0049 0053
0049  ld   [24]                     ; argument 1, low word
0050  and  #0xf
0051  jeq  #0xa         0095 0052
0052  ld   [16]                     ; argument 0, low word
0053  jeq  #0x2         0054 0061
0054  ld   [32]                     ; argument 2, low word
0055  jeq  #0x0         0060 0056
0056  jeq  #0x1         0060 0057
0057  jeq  #0x6         0060 0058
0058  jeq  #0x11        0060 0059
0059  jeq  #0x88        0060 0068
0060  ld   [16]                     ; argument 0, low word
0061  jeq  #0xa         0062 0096
0062  ld   [32]                     ; argument 2, low word
0063  jeq  #0x0         0096 0064
0064  jeq  #0x6         0096 0065
0065  jeq  #0x11        0096 0066
0066  jeq  #0x3a        0096 0067
0067  jeq  #0x88        0096 0068
0068  ret  #0x0005005d              ; ERRNO(93 EPROTONOSUPPORT)
0069  jge  #0x37        0083 0070   ; getsockopt
0070  jge  #0x35        0071 0096   ; socketpair
0071  jge  #0x36        0078 0072   ; setsockopt
0072  ld   [16]                     ; argument 0, low word
0073  jeq  #0x1         0096 0074
0074  jeq  #0x2         0096 0075
0075  jeq  #0xa         0096 0076
0076  jeq  #0x10        0096 0077
0077  ret  #0x00050061              ; ERRNO(97 EAFNOSUPPORT)
0078  ld   [24]                     ; argument 1, low word
0079  jeq  #0x6         0080 0096
0080  ld   [32]                     ; argument 2, low word
0081  jeq  #0x1f        0082 0096
0082  ret  #0x00050002              ; ERRNO(2 ENOENT)
0083  jge  #0x38        0084 0096   ; clone
0084  jge  #0x39        0096 0085   ; fork
0085  ld   [16]                     ; argument 0, low word
0086  jset #0x7e020000  0095 0096
0087  jge  #0x66        0101 0088   ; getuid
0088  jge  #0x5b        0097 0089   ; fchmod
0089  jge  #0x56        0092 0090   ; link
0090  ld   [24]                     ; argument 1, low word
0091  jset #0x800       0095 0096
0092  jge  #0x5a        0093 0096   ; chmod
0093  ld   [24]                     ; argument 1, low word
0094  jset #0x800       0095 0096
0095  ret  #0x00050001              ; ERRNO(1 EPERM)
0096  ret  #0x7fff0000              ; ALLOW
0097  jge  #0x5c        0100 0098   ; chown
0098  ld   [24]                     ; argument 1, low word
0099  jset #0x800       0220 0222
0100  jge  #0x65        0220 0222   ; ptrace
0101  jge  #0x85        0104 0102   ; mknod
0102  jge  #0x67        0103 0222   ; syslog
0103  jge  #0x68        0222 0220   ; getgid
0104  jge  #0x86        0113 0105   ; uselib
0105  ld   [24]                     ; argument 1, low word
0106  and  #0xf000
0107  jeq  #0x2000      0220 0108
0108  ld   [24]                     ; argument 1, low word
0109  and  #0xf000
0110  jeq  #0x6000      0220 0111
0111  ld   [24]                     ; argument 1, low word
0112  jset #0x800       0220 0222
0113  jge  #0x87        0114 0223   ; personality
0114  ld   [16]                     ; argument 0, low word
0115  jeq  #0x0         0222 0116
0116  jeq  #0x8         0222 0117
0117  jeq  #0x20000     0222 0118
0118  jeq  #0x20008     0222 0119
0119  jeq  #0x40000     0222 0120
0120  jeq  #0xffffffff  0222 0220
0121  jge  #0xa3        0137 0122   ; acct
0122  jge  #0x9a        0132 0123   ; modify_ldt
0123  jge  #0x90        0128 0124   ; sched_setscheduler
0124  jge  #0x8e        0125 0222   ; sched_setparam
0125  jge  #0x8f        0222 0126   ; sched_getparam
0126  ld   [16]                     ; argument 0, low word
0127  jeq  #0x1         0220 0222
0128  jge  #0x91        0131 0129   ; sched_getscheduler
0129  ld   [16]                     ; argument 0, low word
0130  jeq  #0x1         0220 0222
0131  jge  #0x99        0220 0222   ; vhangup
0132  jge  #0x9d        0135 0133   ; prctl
0133  jge  #0x9b        0134 0223   ; pivot_root
0134  jge  #0x9c        0223 0220   ; _sysctl
0135  jge  #0xa1        0136 0222   ; chroot
0136  jge  #0xa2        0222 0220   ; sync
0137  jge  #0xb5        0143 0138   ; getpmsg
0138  jge  #0xb1        0141 0139   ; get_kernel_syms
0139  jge  #0xae        0140 0220   ; create_module
0140  jge  #0xaf        0220 0222   ; init_module
0141  jge  #0xb3        0142 0222   ; quotactl
0142  jge  #0xb4        0223 0220   ; nfsservctl
0143  jge  #0xd4        0148 0144   ; lookup_dcookie
0144  jge  #0xcb        0145 0222   ; sched_setaffinity
0145  jge  #0xcc        0222 0146   ; sched_getaffinity
0146  ld   [16]                     ; argument 0, low word
0147  jeq  #0x1         0220 0222
0148  jge  #0xd5        0149 0220   ; epoll_create
0149  jge  #0xe3        0220 0222   ; clock_settime
0150  jge  #0x139       0194 0151   ; finit_module
0151  jge  #0x111       0181 0152   ; set_robust_list
0152  jge  #0x102       0162 0153   ; mkdirat
0153  jge  #0xf8        0156 0154   ; add_key
0154  jge  #0xf6        0155 0222   ; kexec_load
0155  jge  #0xf7        0222 0220   ; waitid
0156  jge  #0xfb        0157 0220   ; ioprio_set
0157  jge  #0x101       0158 0222   ; openat
0158  ld   [32]                     ; argument 2, low word
0159  jset #0x400040    0160 0222
0160  ld   [40]                     ; argument 3, low word
0161  jset #0x800       0220 0222
0162  jge  #0x10c       0173 0163   ; fchmodat
0163  jge  #0x103       0164 0222   ; mknodat
0164  jge  #0x104       0222 0165   ; fchownat
0165  ld   [32]                     ; argument 2, low word
0166  and  #0xf000
0167  jeq  #0x2000      0220 0168
0168  ld   [32]                     ; argument 2, low word
0169  and  #0xf000
0170  jeq  #0x6000      0220 0171
0171  ld   [32]                     ; argument 2, low word
0172  jset #0x800       0220 0222
0173  jge  #0x10d       0176 0174   ; faccessat
0174  ld   [32]                     ; argument 2, low word
0175  jset #0x800       0220 0222
0176  jge  #0x110       0177 0222   ; unshare
0177  ld   [20]                     ; argument 0, high word
0178  jset #0xffffffff  0220 0179
0179  ld   [16]                     ; argument 0, low word
0180  jset #0xfffaf0ff  0220 0222
0181  jge  #0x130       0189 0182   ; open_by_handle_at
0182  jge  #0x12c       0185 0183   ; fanotify_init
0183  jge  #0x12a       0184 0222   ; perf_event_open
0184  jge  #0x12b       0222 0220   ; recvmmsg
0185  jge  #0x12e       0186 0220   ; prlimit64
0186  jge  #0x12f       0222 0187   ; name_to_handle_at
0187  ld   [16]                     ; argument 0, low word
0188  jeq  #0x1         0220 0222
0189  jge  #0x135       0192 0190   ; getcpu
0190  jge  #0x132       0191 0220   ; syncfs
0191  jge  #0x134       0220 0222   ; setns
0192  jge  #0x136       0193 0222   ; process_vm_readv
0193  jge  #0x138       0222 0220   ; kcmp
0194  jge  #0x1b5       0208 0195   ; openat2
0195  jge  #0x144       0203 0196   ; membarrier
0196  jge  #0x140       0201 0197   ; kexec_file_load
0197  jge  #0x13a       0198 0220   ; sched_setattr
0198  jge  #0x13b       0222 0199   ; sched_getattr
0199  ld   [16]                     ; argument 0, low word
0200  jeq  #0x1         0220 0222
0201  jge  #0x142       0202 0220   ; execveat
0202  jge  #0x143       0220 0222   ; userfaultfd
0203  jge  #0x1b2       0206 0204   ; pidfd_open
0204  jge  #0x1a9       0205 0222   ; io_uring_setup
0205  jge  #0x1ac       0220 0223   ; open_tree
0206  jge  #0x1b3       0207 0222   ; clone3
0207  jge  #0x1b4       0222 0223   ; close_range
0208  jge  #0x1c5       0216 0209   ; map_shadow_stack
0209  jge  #0x1ba       0212 0210   ; mount_setattr
0210  jge  #0x1b6       0211 0223   ; pidfd_getfd
0211  jge  #0x1b7       0222 0220   ; faccessat2
0212  jge  #0x1bc       0213 0220   ; landlock_create_ruleset
0213  jge  #0x1c4       0214 0222   ; fchmodat2
0214  ld   [32]                     ; argument 2, low word
0215  jset #0x800       0220 0222
0216  jge  #0x1d6       0219 0217   ; listns
0217  jge  #0x1d3       0218 0222   ; open_tree_attr
0218  jge  #0x1d4       0222 0220   ; file_getattr
0219  jge  #0x1d7       0221 0220   ; rseq_slice_yield
0220  ret  #0x00050001              ; ERRNO(1 EPERM)
0221  jge  #0x1d8       0223 0222   ; newer than every known call
0222  ret  #0x7fff0000              ; ALLOW
0223  ret  #0x00050026              ; ERRNO(38 ENOSYS)
