0000  ld   [4]                      ; arch
0001  jeq  #0xc000003e  0002 0005   ; AUDIT_ARCH_X86_64
0002  ld   [0]                      ; system call
0003  jge  #0x40000000  0004 0007   ; x32
0004  jeq  #0xffffffff  0006 0005
0005  ret  #0x80000000              ; KILL_PROCESS
0006  ret  #0x00050026              ; ERRNO(38 ENOSYS)
0007  jge  #0xf6        0137 0008   ; kexec_load
0008  jge  #0x85        0101 0009   ; mknod
0009  jge  #0x38        0083 0010   ; clone
0010  jge  #0x29        0023 0011   ; socket
0011  jge  #0x3         0017 0012   ; close
0012  jge  #0x2         0013 0076   ; open
0013  ld   [24]                     ; argument 1, low word
0014  jset #0x400040    0015 0076
0015  ld   [32]                     ; argument 2, low word
0016  jset #0x800       0053 0076
0017  jge  #0x10        0018 0076   ; ioctl
0018  jge  #0x11        0076 0019   ; pread64
0019  ld   [24]                     ; argument 1, low word
0020  jeq  #0x5412      0053 0021
0021  jeq  #0x541c      0053 0022
0022  jeq  #0x5423      0053 0076
0023  jge  #0x35        0069 0024   ; socketpair
0024  jge  #0x2a        0076 0025   ; connect
0025  ld   [16]                     ; argument 0, low word
0026  jeq  #0x1         0030 0027
0027  jeq  #0x2         0030 0028
0028  jeq  #0xa         0030 0029
0029  jeq  #0x10        0030 0075
0030  jeq  #0x10        0031 0034
0031  ld   [32]                     ; argument 2, low word
0032  jeq  #0x0         0033 0068
0033  ld   [16]                     ; argument 0, low word
0034  jeq  #0x2         0035 0039
0035  ld   [24]                     ; argument 1, low word
0036  and  #0xf
0037  jeq  #0x3         0053 0038
0038  ld   [16]                     ; argument 0, low word
0039  jeq  #0x2         0040 0044
0040  ld   [24]                     ; argument 1, low word
0041  and  #0xf
0042  jeq  #0xa         0053 0043
0043  ld   [16]                     ; argument 0, low word
0044  jeq  #0xa         0045 0049
0045  ld   [24]                     ; argument 1, low word
0046  and  #0xf
0047  jeq  #0x3         0053 0048
0048  ld   [16]                     ; argument 0, low word
0049  jeq  #0xa         0050 0055
0050  ld   [24]                     ; argument 1, low word
0051  and  #0xf
0052  jeq  #0xa         0053 0054
0053  ret  #0x00050001              ; ERRNO(1 EPERM)
0054  ld   [16]                     ; argument 0, low word
0055  jeq  #0x2         0056 0062
0056  ld   [32]                     ; argument 2, low word
0057  jeq  #0x0         0061 0058
0058  jeq  #0x1         0061 0059
0059  jeq  #0x6         0061 0060
0060  jeq  #0x11        0061 0068
0061  ld   [16]                     ; argument 0, low word
0062  jeq  #0xa         0063 0076
0063  ld   [32]                     ; argument 2, low word
0064  jeq  #0x0         0076 0065
0065  jeq  #0x6         0076 0066
0066  jeq  #0x11        0076 0067
0067  jeq  #0x3a        0076 0068
0068  ret  #0x0005005d              ; ERRNO(93 EPROTONOSUPPORT)
0069  jge  #0x36        0077 0070   ; setsockopt
0070  ld   [16]                     ; argument 0, low word
0071  jeq  #0x1         0076 0072
0072  jeq  #0x2         0076 0073
0073  jeq  #0xa         0076 0074
0074  jeq  #0x10        0076 0075
0075  ret  #0x00050061              ; ERRNO(97 EAFNOSUPPORT)
0076  ret  #0x7fff0000              ; ALLOW
0077  jge  #0x37        0200 0078   ; getsockopt
0078  ld   [24]                     ; argument 1, low word
0079  jeq  #0x6         0080 0200
0080  ld   [32]                     ; argument 2, low word
0081  jeq  #0x1f        0082 0200
0082  ret  #0x00050002              ; ERRNO(2 ENOENT)
0083  jge  #0x5b        0094 0084   ; fchmod
0084  jge  #0x55        0088 0085   ; creat
0085  jge  #0x39        0200 0086   ; fork
0086  ld   [16]                     ; argument 0, low word
0087  jset #0x7e020000  0198 0200
0088  jge  #0x56        0091 0089   ; link
0089  ld   [24]                     ; argument 1, low word
0090  jset #0x800       0198 0200
0091  jge  #0x5a        0092 0200   ; chmod
0092  ld   [24]                     ; argument 1, low word
0093  jset #0x800       0198 0200
0094  jge  #0x66        0099 0095   ; getuid
0095  jge  #0x5c        0098 0096   ; chown
0096  ld   [24]                     ; argument 1, low word
0097  jset #0x800       0198 0200
0098  jge  #0x65        0198 0200   ; ptrace
0099  jge  #0x67        0100 0200   ; syslog
0100  jge  #0x68        0200 0198   ; getgid
0101  jge  #0xa3        0127 0102   ; acct
0102  jge  #0x9a        0122 0103   ; modify_ldt
0103  jge  #0x87        0113 0104   ; personality
0104  jge  #0x86        0201 0105   ; uselib
0105  ld   [24]                     ; argument 1, low word
0106  and  #0xf000
0107  jeq  #0x2000      0198 0108
0108  ld   [24]                     ; argument 1, low word
0109  and  #0xf000
0110  jeq  #0x6000      0198 0111
0111  ld   [24]                     ; argument 1, low word
0112  jset #0x800       0198 0200
0113  jge  #0x88        0121 0114   ; ustat
0114  ld   [16]                     ; argument 0, low word
0115  jeq  #0x0         0200 0116
0116  jeq  #0x8         0200 0117
0117  jeq  #0x20000     0200 0118
0118  jeq  #0x20008     0200 0119
0119  jeq  #0x40000     0200 0120
0120  jeq  #0xffffffff  0200 0198
0121  jge  #0x99        0198 0200   ; vhangup
0122  jge  #0x9d        0125 0123   ; prctl
0123  jge  #0x9b        0124 0201   ; pivot_root
0124  jge  #0x9c        0201 0198   ; _sysctl
0125  jge  #0xa1        0126 0200   ; chroot
0126  jge  #0xa2        0200 0198   ; sync
0127  jge  #0xb4        0132 0128   ; nfsservctl
0128  jge  #0xaf        0130 0129   ; init_module
0129  jge  #0xae        0200 0198   ; create_module
0130  jge  #0xb1        0131 0198   ; get_kernel_syms
0131  jge  #0xb3        0198 0200   ; quotactl
0132  jge  #0xd5        0135 0133   ; epoll_create
0133  jge  #0xb5        0134 0201   ; getpmsg
0134  jge  #0xd4        0198 0200   ; lookup_dcookie
0135  jge  #0xe3        0136 0200   ; clock_settime
0136  jge  #0xe4        0200 0198   ; clock_gettime
0137  jge  #0x13a       0176 0138   ; sched_setattr
0138  jge  #0x110       0162 0139   ; unshare
0139  jge  #0x102       0148 0140   ; mkdirat
0140  jge  #0xf8        0142 0141   ; add_key
0141  jge  #0xf7        0200 0198   ; waitid
0142  jge  #0xfb        0143 0198   ; ioprio_set
0143  jge  #0x101       0144 0200   ; openat
0144  ld   [32]                     ; argument 2, low word
0145  jset #0x400040    0146 0200
0146  ld   [40]                     ; argument 3, low word
0147  jset #0x800       0198 0200
0148  jge  #0x104       0158 0149   ; fchownat
0149  jge  #0x103       0150 0200   ; mknodat
0150  ld   [32]                     ; argument 2, low word
0151  and  #0xf000
0152  jeq  #0x2000      0198 0153
0153  ld   [32]                     ; argument 2, low word
0154  and  #0xf000
0155  jeq  #0x6000      0198 0156
0156  ld   [32]                     ; argument 2, low word
0157  jset #0x800       0198 0200
0158  jge  #0x10c       0159 0200   ; fchmodat
0159  jge  #0x10d       0200 0160   ; faccessat
0160  ld   [32]                     ; argument 2, low word
0161  jset #0x800       0198 0200
0162  jge  #0x132       0171 0163   ; syncfs
0163  jge  #0x12a       0169 0164   ; perf_event_open
0164  jge  #0x111       0200 0165   ; set_robust_list
0165  ld   [20]                     ; argument 0, high word
0166  jset #0xffffffff  0198 0167
0167  ld   [16]                     ; argument 0, low word
0168  jset #0xfffaf0ff  0198 0200
0169  jge  #0x12b       0170 0198   ; recvmmsg
0170  jge  #0x130       0198 0200   ; open_by_handle_at
0171  jge  #0x136       0174 0172   ; process_vm_readv
0172  jge  #0x134       0173 0200   ; setns
0173  jge  #0x135       0200 0198   ; getcpu
0174  jge  #0x138       0175 0198   ; kcmp
0175  jge  #0x139       0198 0200   ; finit_module
0176  jge  #0x1b6       0187 0177   ; pidfd_getfd
0177  jge  #0x1a9       0182 0178   ; io_uring_setup
0178  jge  #0x142       0180 0179   ; execveat
0179  jge  #0x140       0198 0200   ; kexec_file_load
0180  jge  #0x143       0181 0200   ; userfaultfd
0181  jge  #0x144       0200 0198   ; membarrier
0182  jge  #0x1b3       0185 0183   ; clone3
0183  jge  #0x1ac       0184 0201   ; open_tree
0184  jge  #0x1b2       0200 0198   ; pidfd_open
0185  jge  #0x1b4       0186 0201   ; close_range
0186  jge  #0x1b5       0201 0200   ; openat2
0187  jge  #0x1c5       0194 0188   ; map_shadow_stack
0188  jge  #0x1ba       0190 0189   ; mount_setattr
0189  jge  #0x1b7       0200 0198   ; faccessat2
0190  jge  #0x1bc       0191 0198   ; landlock_create_ruleset
0191  jge  #0x1c4       0192 0200   ; fchmodat2
0192  ld   [32]                     ; argument 2, low word
0193  jset #0x800       0198 0200
0194  jge  #0x1d6       0197 0195   ; listns
0195  jge  #0x1d3       0196 0200   ; open_tree_attr
0196  jge  #0x1d4       0200 0198   ; file_getattr
0197  jge  #0x1d7       0199 0198   ; rseq_slice_yield
0198  ret  #0x00050001              ; ERRNO(1 EPERM)
0199  jge  #0x1d8       0201 0200   ; newer than every known call
0200  ret  #0x7fff0000              ; ALLOW
0201  ret  #0x00050026              ; ERRNO(38 ENOSYS)
