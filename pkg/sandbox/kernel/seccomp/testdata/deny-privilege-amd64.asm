0000  ld   [4]                      ; arch
0001  jeq  #0xc000003e  0002 0005   ; AUDIT_ARCH_X86_64
0002  ld   [0]                      ; system call
0003  jge  #0x40000000  0004 0007   ; x32
0004  jeq  #0xffffffff  0006 0005
0005  ret  #0x80000000              ; KILL_PROCESS
0006  ret  #0x00050026              ; ERRNO(38 ENOSYS)
0007  jge  #0xe4        0148 0008   ; clock_gettime
0008  jge  #0x88        0119 0009   ; ustat
0009  jge  #0x55        0085 0010   ; creat
0010  jge  #0x2a        0067 0011   ; connect
0011  jge  #0x10        0018 0012   ; ioctl
0012  jge  #0x2         0013 0094   ; open
0013  jge  #0x3         0094 0014   ; close
0014  ld   [24]                     ; argument 1, low word
0015  jset #0x400040    0016 0094
0016  ld   [32]                     ; argument 2, low word
0017  jset #0x800       0093 0094
0018  jge  #0x11        0023 0019   ; pread64
0019  ld   [24]                     ; argument 1, low word
0020  jeq  #0x5412      0093 0021
0021  jeq  #0x541c      0093 0022
0022  jeq  #0x5423      0093 0094
0023  jge  #0x29        0024 0094   ; socket
0024  ld   [16]                     ; argument 0, low word
0025  jeq  #0x1         0029 0026
0026  jeq  #0x2         0029 0027
0027  jeq  #0xa         0029 0028
0028  jeq  #0x10        0029 0075
0029  jeq  #0x10        0030 0033
0030  ld   [32]                     ; argument 2, low word
0031  jeq  #0x0         0032 0066
0032  ld   [16]                     ; argument 0, low word
0033  jeq  #0x2         0034 0038
0034  ld   [24]                     ; argument 1, low word
0035  and  #0xf
0036  jeq  #0x3         0093 0037
0037  ld   [16]                     ; argument 0, low word
0038  jeq  #0x2         0039 0043
0039  ld   [24]                     ; argument 1, low word
0040  and  #0xf
0041  jeq  #0xa         0093 0042
0042  ld   [16]                     ; argument 0, low word
0043  jeq  #0xa         0044 0048
0044  ld   [24]                     ; argument 1, low word
0045  and  #0xf
0046  jeq  #0x3         0093 0047
0047  ld   [16]                     ; argument 0, low word
0048  jeq  #0xa         0049 0053
0049  ld   [24]                     ; argument 1, low word
0050  and  #0xf
0051  jeq  #0xa         0093 0052
0052  ld   [16]                     ; argument 0, low word
0053  jeq  #0x2         0054 0060
0054  ld   [32]                     ; argument 2, low word
0055  jeq  #0x0         0059 0056
0056  jeq  #0x1         0059 0057
0057  jeq  #0x6         0059 0058
0058  jeq  #0x11        0059 0066
0059  ld   [16]                     ; argument 0, low word
0060  jeq  #0xa         0061 0094
0061  ld   [32]                     ; argument 2, low word
0062  jeq  #0x0         0094 0063
0063  jeq  #0x6         0094 0064
0064  jeq  #0x11        0094 0065
0065  jeq  #0x3a        0094 0066
0066  ret  #0x0005005d              ; ERRNO(93 EPROTONOSUPPORT)
0067  jge  #0x37        0081 0068   ; getsockopt
0068  jge  #0x35        0069 0094   ; socketpair
0069  jge  #0x36        0076 0070   ; setsockopt
0070  ld   [16]                     ; argument 0, low word
0071  jeq  #0x1         0094 0072
0072  jeq  #0x2         0094 0073
0073  jeq  #0xa         0094 0074
0074  jeq  #0x10        0094 0075
0075  ret  #0x00050061              ; ERRNO(97 EAFNOSUPPORT)
0076  ld   [24]                     ; argument 1, low word
0077  jeq  #0x6         0078 0094
0078  ld   [32]                     ; argument 2, low word
0079  jeq  #0x1f        0080 0094
0080  ret  #0x00050002              ; ERRNO(2 ENOENT)
0081  jge  #0x38        0082 0094   ; clone
0082  jge  #0x39        0094 0083   ; fork
0083  ld   [16]                     ; argument 0, low word
0084  jset #0x7e020000  0093 0094
0085  jge  #0x66        0099 0086   ; getuid
0086  jge  #0x5b        0095 0087   ; fchmod
0087  jge  #0x56        0090 0088   ; link
0088  ld   [24]                     ; argument 1, low word
0089  jset #0x800       0093 0094
0090  jge  #0x5a        0091 0094   ; chmod
0091  ld   [24]                     ; argument 1, low word
0092  jset #0x800       0093 0094
0093  ret  #0x00050001              ; ERRNO(1 EPERM)
0094  ret  #0x7fff0000              ; ALLOW
0095  jge  #0x5c        0098 0096   ; chown
0096  ld   [24]                     ; argument 1, low word
0097  jset #0x800       0218 0220
0098  jge  #0x65        0218 0220   ; ptrace
0099  jge  #0x85        0102 0100   ; mknod
0100  jge  #0x67        0101 0220   ; syslog
0101  jge  #0x68        0220 0218   ; getgid
0102  jge  #0x86        0111 0103   ; uselib
0103  ld   [24]                     ; argument 1, low word
0104  and  #0xf000
0105  jeq  #0x2000      0218 0106
0106  ld   [24]                     ; argument 1, low word
0107  and  #0xf000
0108  jeq  #0x6000      0218 0109
0109  ld   [24]                     ; argument 1, low word
0110  jset #0x800       0218 0220
0111  jge  #0x87        0112 0221   ; personality
0112  ld   [16]                     ; argument 0, low word
0113  jeq  #0x0         0220 0114
0114  jeq  #0x8         0220 0115
0115  jeq  #0x20000     0220 0116
0116  jeq  #0x20008     0220 0117
0117  jeq  #0x40000     0220 0118
0118  jeq  #0xffffffff  0220 0218
0119  jge  #0xa3        0135 0120   ; acct
0120  jge  #0x9a        0130 0121   ; modify_ldt
0121  jge  #0x90        0126 0122   ; sched_setscheduler
0122  jge  #0x8e        0123 0220   ; sched_setparam
0123  jge  #0x8f        0220 0124   ; sched_getparam
0124  ld   [16]                     ; argument 0, low word
0125  jeq  #0x1         0218 0220
0126  jge  #0x91        0129 0127   ; sched_getscheduler
0127  ld   [16]                     ; argument 0, low word
0128  jeq  #0x1         0218 0220
0129  jge  #0x99        0218 0220   ; vhangup
0130  jge  #0x9d        0133 0131   ; prctl
0131  jge  #0x9b        0132 0221   ; pivot_root
0132  jge  #0x9c        0221 0218   ; _sysctl
0133  jge  #0xa1        0134 0220   ; chroot
0134  jge  #0xa2        0220 0218   ; sync
0135  jge  #0xb5        0141 0136   ; getpmsg
0136  jge  #0xb1        0139 0137   ; get_kernel_syms
0137  jge  #0xae        0138 0218   ; create_module
0138  jge  #0xaf        0218 0220   ; init_module
0139  jge  #0xb3        0140 0220   ; quotactl
0140  jge  #0xb4        0221 0218   ; nfsservctl
0141  jge  #0xd4        0146 0142   ; lookup_dcookie
0142  jge  #0xcb        0143 0220   ; sched_setaffinity
0143  jge  #0xcc        0220 0144   ; sched_getaffinity
0144  ld   [16]                     ; argument 0, low word
0145  jeq  #0x1         0218 0220
0146  jge  #0xd5        0147 0218   ; epoll_create
0147  jge  #0xe3        0218 0220   ; clock_settime
0148  jge  #0x139       0192 0149   ; finit_module
0149  jge  #0x111       0179 0150   ; set_robust_list
0150  jge  #0x102       0160 0151   ; mkdirat
0151  jge  #0xf8        0154 0152   ; add_key
0152  jge  #0xf6        0153 0220   ; kexec_load
0153  jge  #0xf7        0220 0218   ; waitid
0154  jge  #0xfb        0155 0218   ; ioprio_set
0155  jge  #0x101       0156 0220   ; openat
0156  ld   [32]                     ; argument 2, low word
0157  jset #0x400040    0158 0220
0158  ld   [40]                     ; argument 3, low word
0159  jset #0x800       0218 0220
0160  jge  #0x10c       0171 0161   ; fchmodat
0161  jge  #0x103       0162 0220   ; mknodat
0162  jge  #0x104       0220 0163   ; fchownat
0163  ld   [32]                     ; argument 2, low word
0164  and  #0xf000
0165  jeq  #0x2000      0218 0166
0166  ld   [32]                     ; argument 2, low word
0167  and  #0xf000
0168  jeq  #0x6000      0218 0169
0169  ld   [32]                     ; argument 2, low word
0170  jset #0x800       0218 0220
0171  jge  #0x10d       0174 0172   ; faccessat
0172  ld   [32]                     ; argument 2, low word
0173  jset #0x800       0218 0220
0174  jge  #0x110       0175 0220   ; unshare
0175  ld   [20]                     ; argument 0, high word
0176  jset #0xffffffff  0218 0177
0177  ld   [16]                     ; argument 0, low word
0178  jset #0xfffaf0ff  0218 0220
0179  jge  #0x130       0187 0180   ; open_by_handle_at
0180  jge  #0x12c       0183 0181   ; fanotify_init
0181  jge  #0x12a       0182 0220   ; perf_event_open
0182  jge  #0x12b       0220 0218   ; recvmmsg
0183  jge  #0x12e       0184 0218   ; prlimit64
0184  jge  #0x12f       0220 0185   ; name_to_handle_at
0185  ld   [16]                     ; argument 0, low word
0186  jeq  #0x1         0218 0220
0187  jge  #0x135       0190 0188   ; getcpu
0188  jge  #0x132       0189 0218   ; syncfs
0189  jge  #0x134       0218 0220   ; setns
0190  jge  #0x136       0191 0220   ; process_vm_readv
0191  jge  #0x138       0220 0218   ; kcmp
0192  jge  #0x1b5       0206 0193   ; openat2
0193  jge  #0x144       0201 0194   ; membarrier
0194  jge  #0x140       0199 0195   ; kexec_file_load
0195  jge  #0x13a       0196 0218   ; sched_setattr
0196  jge  #0x13b       0220 0197   ; sched_getattr
0197  ld   [16]                     ; argument 0, low word
0198  jeq  #0x1         0218 0220
0199  jge  #0x142       0200 0218   ; execveat
0200  jge  #0x143       0218 0220   ; userfaultfd
0201  jge  #0x1b2       0204 0202   ; pidfd_open
0202  jge  #0x1a9       0203 0220   ; io_uring_setup
0203  jge  #0x1ac       0218 0221   ; open_tree
0204  jge  #0x1b3       0205 0220   ; clone3
0205  jge  #0x1b4       0220 0221   ; close_range
0206  jge  #0x1c5       0214 0207   ; map_shadow_stack
0207  jge  #0x1ba       0210 0208   ; mount_setattr
0208  jge  #0x1b6       0209 0221   ; pidfd_getfd
0209  jge  #0x1b7       0220 0218   ; faccessat2
0210  jge  #0x1bc       0211 0218   ; landlock_create_ruleset
0211  jge  #0x1c4       0212 0220   ; fchmodat2
0212  ld   [32]                     ; argument 2, low word
0213  jset #0x800       0218 0220
0214  jge  #0x1d6       0217 0215   ; listns
0215  jge  #0x1d3       0216 0220   ; open_tree_attr
0216  jge  #0x1d4       0220 0218   ; file_getattr
0217  jge  #0x1d7       0219 0218   ; rseq_slice_yield
0218  ret  #0x00050001              ; ERRNO(1 EPERM)
0219  jge  #0x1d8       0221 0220   ; newer than every known call
0220  ret  #0x7fff0000              ; ALLOW
0221  ret  #0x00050026              ; ERRNO(38 ENOSYS)
