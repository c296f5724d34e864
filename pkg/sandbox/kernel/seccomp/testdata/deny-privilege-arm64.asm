0000  ld   [4]                      ; arch
0001  jeq  #0xc00000b7  0003 0002   ; AUDIT_ARCH_AARCH64
0002  ret  #0x80000000              ; KILL_PROCESS
0003  ld   [0]                      ; system call
0004  jge  #0xc8        0139 0005   ; bind
0005  jge  #0x5c        0048 0006   ; personality
0006  jge  #0x34        0030 0007   ; fchmod
0007  jge  #0x21        0016 0008   ; mknodat
0008  jge  #0x13        0010 0009   ; eventfd2
0009  jge  #0x12        0081 0082   ; lookup_dcookie
0010  jge  #0x1d        0011 0082   ; ioctl
0011  jge  #0x1e        0082 0012   ; ioprio_set
0012  ld   [24]                     ; argument 1, low word
0013  jeq  #0x5412      0081 0014
0014  jeq  #0x541c      0081 0015
0015  jeq  #0x5423      0081 0082
0016  jge  #0x2a        0027 0017   ; nfsservctl
0017  jge  #0x22        0026 0018   ; mkdirat
0018  ld   [32]                     ; argument 2, low word
0019  and  #0xf000
0020  jeq  #0x2000      0081 0021
0021  ld   [32]                     ; argument 2, low word
0022  and  #0xf000
0023  jeq  #0x6000      0081 0024
0024  ld   [32]                     ; argument 2, low word
0025  jset #0x800       0081 0082
0026  jge  #0x27        0081 0082   ; umount2
0027  jge  #0x2b        0029 0028   ; statfs
0028  ret  #0x00050026              ; ERRNO(38 ENOSYS)
0029  jge  #0x33        0081 0082   ; chroot
0030  jge  #0x3a        0043 0031   ; vhangup
0031  jge  #0x36        0037 0032   ; fchownat
0032  jge  #0x35        0035 0033   ; fchmodat
0033  ld   [24]                     ; argument 1, low word
0034  jset #0x800       0081 0082
0035  ld   [32]                     ; argument 2, low word
0036  jset #0x800       0081 0082
0037  jge  #0x38        0038 0082   ; openat
0038  jge  #0x39        0082 0039   ; close
0039  ld   [32]                     ; argument 2, low word
0040  jset #0x400040    0041 0082
0041  ld   [40]                     ; argument 3, low word
0042  jset #0x800       0081 0082
0043  jge  #0x3d        0046 0044   ; getdents64
0044  jge  #0x3b        0045 0081   ; pipe2
0045  jge  #0x3c        0081 0082   ; quotactl
0046  jge  #0x59        0047 0082   ; acct
0047  jge  #0x5a        0082 0081   ; capget
0048  jge  #0x78        0074 0049   ; sched_getscheduler
0049  jge  #0x6b        0065 0050   ; timer_create
0050  jge  #0x61        0059 0051   ; unshare
0051  jge  #0x5d        0082 0052   ; exit
0052  ld   [16]                     ; argument 0, low word
0053  jeq  #0x0         0082 0054
0054  jeq  #0x8         0082 0055
0055  jeq  #0x20000     0082 0056
0056  jeq  #0x20008     0082 0057
0057  jeq  #0x40000     0082 0058
0058  jeq  #0xffffffff  0082 0081
0059  jge  #0x62        0064 0060   ; futex
0060  ld   [20]                     ; argument 0, high word
0061  jset #0xffffffff  0081 0062
0062  ld   [16]                     ; argument 0, low word
0063  jset #0xfffaf0ff  0081 0082
0064  jge  #0x68        0081 0082   ; kexec_load
0065  jge  #0x74        0068 0066   ; syslog
0066  jge  #0x70        0067 0082   ; clock_settime
0067  jge  #0x71        0082 0081   ; clock_gettime
0068  jge  #0x76        0069 0081   ; sched_setparam
0069  jge  #0x77        0072 0070   ; sched_setscheduler
0070  ld   [16]                     ; argument 0, low word
0071  jeq  #0x1         0081 0082
0072  ld   [16]                     ; argument 0, low word
0073  jeq  #0x1         0081 0082
0074  jge  #0xa1        0083 0075   ; sethostname
0075  jge  #0x7b        0079 0076   ; sched_getaffinity
0076  jge  #0x7a        0077 0082   ; sched_setaffinity
0077  ld   [16]                     ; argument 0, low word
0078  jeq  #0x1         0081 0082
0079  jge  #0x8e        0080 0082   ; reboot
0080  jge  #0x8f        0082 0081   ; setregid
0081  ret  #0x00050001              ; ERRNO(1 EPERM)
0082  ret  #0x7fff0000              ; ALLOW
0083  jge  #0xab        0086 0084   ; adjtimex
0084  jge  #0xa3        0085 0195   ; getrlimit
0085  jge  #0xaa        0195 0197   ; settimeofday
0086  jge  #0xc6        0087 0197   ; socket
0087  jge  #0xc7        0133 0088   ; socketpair
0088  ld   [16]                     ; argument 0, low word
0089  jeq  #0x1         0093 0090
0090  jeq  #0x2         0093 0091
0091  jeq  #0xa         0093 0092
0092  jeq  #0x10        0093 0138
0093  jeq  #0x10        0094 0097
0094  ld   [32]                     ; argument 2, low word
0095  jeq  #0x0         0096 0132
0096  ld   [16]                     ; argument 0, low word
0097  jeq  #0x2         0098 0102
0098  ld   [24]                     ; argument 1, low word
0099  and  #0xf
0100  jeq  #0x3         0195 0101
0101  ld   [16]                     ; argument 0, low word
0102  jeq  #0x2         0103 0107
0103  ld   [24]                     ; argument 1, low word
0104  and  #0xf
0105  jeq  #0xa         0195 0106
0106  ld   [16]                     ; argument 0, low word
0107  jeq  #0xa         0108 0112
0108  ld   [24]                     ; argument 1, low word
0109  and  #0xf
0110  jeq  #0x3         0195 0111
0111  ld   [16]                     ; argument 0, low word
0112  jeq  #0xa         0113 0117
0113  ld   [24]                     ; argument 1, low word
0114  and  #0xf
0115  jeq  #0xa         0195 0116
0116  ld   [16]                     ; argument 0, low word
0117  jeq  #0x2         0118 0125
0118  ld   [32]                     ; argument 2, low word
0119  jeq  #0x0         0124 0120
0120  jeq  #0x1         0124 0121
0121  jeq  #0x6         0124 0122
0122  jeq  #0x11        0124 0123
0123  jeq  #0x88        0124 0132
0124  ld   [16]                     ; argument 0, low word
0125  jeq  #0xa         0126 0197
0126  ld   [32]                     ; argument 2, low word
0127  jeq  #0x0         0197 0128
0128  jeq  #0x6         0197 0129
0129  jeq  #0x11        0197 0130
0130  jeq  #0x3a        0197 0131
0131  jeq  #0x88        0197 0132
0132  ret  #0x0005005d              ; ERRNO(93 EPROTONOSUPPORT)
0133  ld   [16]                     ; argument 0, low word
0134  jeq  #0x1         0197 0135
0135  jeq  #0x2         0197 0136
0136  jeq  #0xa         0197 0137
0137  jeq  #0x10        0197 0138
0138  ret  #0x00050061              ; ERRNO(97 EAFNOSUPPORT)
0139  jge  #0x118       0172 0140   ; bpf
0140  jge  #0x106       0160 0141   ; fanotify_init
0141  jge  #0xdd        0153 0142   ; execve
0142  jge  #0xd1        0149 0143   ; getsockopt
0143  jge  #0xd0        0144 0197   ; setsockopt
0144  ld   [24]                     ; argument 1, low word
0145  jeq  #0x6         0146 0197
0146  ld   [32]                     ; argument 2, low word
0147  jeq  #0x1f        0148 0197
0148  ret  #0x00050002              ; ERRNO(2 ENOENT)
0149  jge  #0xd9        0150 0197   ; add_key
0150  jge  #0xdc        0151 0195   ; clone
0151  ld   [16]                     ; argument 0, low word
0152  jset #0x7e020000  0195 0197
0153  jge  #0xf1        0156 0154   ; perf_event_open
0154  jge  #0xe0        0155 0197   ; swapon
0155  jge  #0xe2        0197 0195   ; mprotect
0156  jge  #0xf2        0157 0195   ; accept4
0157  jge  #0x105       0158 0197   ; prlimit64
0158  ld   [16]                     ; argument 0, low word
0159  jeq  #0x1         0195 0197
0160  jge  #0x10d       0165 0161   ; sendmmsg
0161  jge  #0x109       0163 0162   ; open_by_handle_at
0162  jge  #0x108       0197 0195   ; name_to_handle_at
0163  jge  #0x10b       0164 0195   ; syncfs
0164  jge  #0x10c       0195 0197   ; setns
0165  jge  #0x111       0168 0166   ; finit_module
0166  jge  #0x10e       0167 0197   ; process_vm_readv
0167  jge  #0x110       0197 0195   ; kcmp
0168  jge  #0x112       0169 0195   ; sched_setattr
0169  jge  #0x113       0197 0170   ; sched_getattr
0170  ld   [16]                     ; argument 0, low word
0171  jeq  #0x1         0195 0197
0172  jge  #0x1b5       0183 0173   ; openat2
0173  jge  #0x127       0178 0174
0174  jge  #0x11a       0176 0175   ; userfaultfd
0175  jge  #0x119       0197 0195   ; execveat
0176  jge  #0x11b       0177 0195   ; membarrier
0177  jge  #0x126       0195 0197   ; kexec_file_load
0178  jge  #0x1b2       0181 0179   ; pidfd_open
0179  jge  #0x1a9       0180 0197   ; io_uring_setup
0180  jge  #0x1ac       0195 0198   ; open_tree
0181  jge  #0x1b3       0182 0197   ; clone3
0182  jge  #0x1b4       0197 0198   ; close_range
0183  jge  #0x1c5       0191 0184   ; map_shadow_stack
0184  jge  #0x1ba       0187 0185   ; mount_setattr
0185  jge  #0x1b6       0186 0198   ; pidfd_getfd
0186  jge  #0x1b7       0197 0195   ; faccessat2
0187  jge  #0x1bc       0188 0195   ; landlock_create_ruleset
0188  jge  #0x1c4       0189 0197   ; fchmodat2
0189  ld   [32]                     ; argument 2, low word
0190  jset #0x800       0195 0197
0191  jge  #0x1d6       0194 0192   ; listns
0192  jge  #0x1d3       0193 0197   ; open_tree_attr
0193  jge  #0x1d4       0197 0195   ; file_getattr
0194  jge  #0x1d7       0196 0195   ; rseq_slice_yield
0195  ret  #0x00050001              ; ERRNO(1 EPERM)
0196  jge  #0x1d8       0198 0197   ; newer than every known call
0197  ret  #0x7fff0000              ; ALLOW
0198  ret  #0x00050026              ; ERRNO(38 ENOSYS)
