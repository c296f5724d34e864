0000  ld   [4]                      ; arch
0001  jeq  #0xc00000b7  0003 0002   ; AUDIT_ARCH_AARCH64
0002  ret  #0x80000000              ; KILL_PROCESS
0003  ld   [0]                      ; system call
0004  jge  #0xc8        0137 0005   ; bind
0005  jge  #0x5c        0048 0006   ; personality
0006  jge  #0x34        0030 0007   ; fchmod
0007  jge  #0x21        0016 0008   ; mknodat
0008  jge  #0x13        0010 0009   ; eventfd2
0009  jge  #0x12        0074 0078   ; lookup_dcookie
0010  jge  #0x1d        0011 0078   ; ioctl
0011  jge  #0x1e        0078 0012   ; ioprio_set
0012  ld   [24]                     ; argument 1, low word
0013  jeq  #0x5412      0074 0014
0014  jeq  #0x541c      0074 0015
0015  jeq  #0x5423      0074 0078
0016  jge  #0x2a        0027 0017   ; nfsservctl
0017  jge  #0x22        0026 0018   ; mkdirat
0018  ld   [32]                     ; argument 2, low word
0019  and  #0xf000
0020  jeq  #0x2000      0074 0021
0021  ld   [32]                     ; argument 2, low word
0022  and  #0xf000
0023  jeq  #0x6000      0074 0024
0024  ld   [32]                     ; argument 2, low word
0025  jset #0x800       0074 0078
0026  jge  #0x27        0074 0078   ; umount2
0027  jge  #0x2b        0029 0028   ; statfs
0028  ret  #0x00050026              ; ERRNO(38 ENOSYS)
0029  jge  #0x33        0074 0078   ; chroot
0030  jge  #0x3a        0043 0031   ; vhangup
0031  jge  #0x36        0037 0032   ; fchownat
0032  jge  #0x35        0035 0033   ; fchmodat
0033  ld   [24]                     ; argument 1, low word
0034  jset #0x800       0074 0078
0035  ld   [32]                     ; argument 2, low word
0036  jset #0x800       0074 0078
0037  jge  #0x38        0038 0078   ; openat
0038  jge  #0x39        0078 0039   ; close
0039  ld   [32]                     ; argument 2, low word
0040  jset #0x400040    0041 0078
0041  ld   [40]                     ; argument 3, low word
0042  jset #0x800       0074 0078
0043  jge  #0x3d        0046 0044   ; getdents64
0044  jge  #0x3b        0045 0074   ; pipe2
0045  jge  #0x3c        0074 0078   ; quotactl
0046  jge  #0x59        0047 0078   ; acct
0047  jge  #0x5a        0078 0074   ; capget
0048  jge  #0x78        0075 0049   ; sched_getscheduler
0049  jge  #0x6b        0065 0050   ; timer_create
0050  jge  #0x61        0059 0051   ; unshare
0051  jge  #0x5d        0078 0052   ; exit
0052  ld   [16]                     ; argument 0, low word
0053  jeq  #0x0         0078 0054
0054  jeq  #0x8         0078 0055
0055  jeq  #0x20000     0078 0056
0056  jeq  #0x20008     0078 0057
0057  jeq  #0x40000     0078 0058
0058  jeq  #0xffffffff  0078 0074
0059  jge  #0x62        0064 0060   ; futex
0060  ld   [20]                     ; argument 0, high word
0061  jset #0xffffffff  0074 0062
0062  ld   [16]                     ; argument 0, low word
0063  jset #0xfffaf0ff  0074 0078
0064  jge  #0x68        0074 0078   ; kexec_load
0065  jge  #0x74        0068 0066   ; syslog
0066  jge  #0x70        0067 0078   ; clock_settime
0067  jge  #0x71        0078 0074   ; clock_gettime
0068  jge  #0x76        0069 0074   ; sched_setparam
0069  jge  #0x77        0072 0070   ; sched_setscheduler
0070  ld   [16]                     ; argument 0, low word
0071  jeq  #0x1         0074 0078
0072  ld   [16]                     ; argument 0, low word
0073  jeq  #0x1         0074 0078
0074  ret  #0x00050001              ; ERRNO(1 EPERM)
0075  jge  #0xa1        0083 0076   ; sethostname
0076  jge  #0x7b        0081 0077   ; sched_getaffinity
0077  jge  #0x7a        0079 0078   ; sched_setaffinity
0078  ret  #0x7fff0000              ; ALLOW
0079  ld   [16]                     ; argument 0, low word
0080  jeq  #0x1         0193 0195
0081  jge  #0x8e        0082 0195   ; reboot
0082  jge  #0x8f        0195 0193   ; setregid
0083  jge  #0xab        0086 0084   ; adjtimex
0084  jge  #0xa3        0085 0193   ; getrlimit
0085  jge  #0xaa        0193 0195   ; settimeofday
0086  jge  #0xc6        0087 0195   ; socket
0087  jge  #0xc7        0131 0088   ; socketpair
0088  ld   [16]                     ; argument 0, low word
0089  jeq  #0x1         0093 0090
0090  jeq  #0x2         0093 0091
0091  jeq  #0xa         0093 0092
0092  jeq  #0x10        0093 0136
0093  jeq  #0x10        0094 0097
0094  ld   [32]                     ; argument 2, low word
0095  jeq  #0x0         0096 0130
0096  ld   [16]                     ; argument 0, low word
0097  jeq  #0x2         0098 0102
0098  ld   [24]                     ; argument 1, low word
0099  and  #0xf
0100  jeq  #0x3         0193 0101
0101  ld   [16]                     ; argument 0, low word
0102  jeq  #0x2         0103 0107
0103  ld   [24]                     ; argument 1, low word
0104  and  #0xf
0105  jeq  #0xa         0193 0106
0106  ld   [16]                     ; argument 0, low word
0107  jeq  #0xa         0108 0112
0108  ld   [24]                     ; argument 1, low word
0109  and  #0xf
0110  jeq  #0x3         0193 0111
0111  ld   [16]                     ; argument 0, low word
0112  jeq  #0xa         0113 0117
0113  ld   [24]                     ; argument 1, low word
0114  and  #0xf
0115  jeq  #0xa         0193 0116
0116  ld   [16]                     ; argument 0, low word
0117  jeq  #0x2         0118 0124
0118  ld   [32]                     ; argument 2, low word
0119  jeq  #0x0         0123 0120
0120  jeq  #0x1         0123 0121
0121  jeq  #0x6         0123 0122
0122  jeq  #0x11        0123 0130
0123  ld   [16]                     ; argument 0, low word
0124  jeq  #0xa         0125 0195
0125  ld   [32]                     ; argument 2, low word
0126  jeq  #0x0         0195 0127
0127  jeq  #0x6         0195 0128
0128  jeq  #0x11        0195 0129
0129  jeq  #0x3a        0195 0130
0130  ret  #0x0005005d              ; ERRNO(93 EPROTONOSUPPORT)
0131  ld   [16]                     ; argument 0, low word
0132  jeq  #0x1         0195 0133
0133  jeq  #0x2         0195 0134
0134  jeq  #0xa         0195 0135
0135  jeq  #0x10        0195 0136
0136  ret  #0x00050061              ; ERRNO(97 EAFNOSUPPORT)
0137  jge  #0x118       0170 0138   ; bpf
0138  jge  #0x106       0158 0139   ; fanotify_init
0139  jge  #0xdd        0151 0140   ; execve
0140  jge  #0xd1        0147 0141   ; getsockopt
0141  jge  #0xd0        0142 0195   ; setsockopt
0142  ld   [24]                     ; argument 1, low word
0143  jeq  #0x6         0144 0195
0144  ld   [32]                     ; argument 2, low word
0145  jeq  #0x1f        0146 0195
0146  ret  #0x00050002              ; ERRNO(2 ENOENT)
0147  jge  #0xd9        0148 0195   ; add_key
0148  jge  #0xdc        0149 0193   ; clone
0149  ld   [16]                     ; argument 0, low word
0150  jset #0x7e020000  0193 0195
0151  jge  #0xf1        0154 0152   ; perf_event_open
0152  jge  #0xe0        0153 0195   ; swapon
0153  jge  #0xe2        0195 0193   ; mprotect
0154  jge  #0xf2        0155 0193   ; accept4
0155  jge  #0x105       0156 0195   ; prlimit64
0156  ld   [16]                     ; argument 0, low word
0157  jeq  #0x1         0193 0195
0158  jge  #0x10d       0163 0159   ; sendmmsg
0159  jge  #0x109       0161 0160   ; open_by_handle_at
0160  jge  #0x108       0195 0193   ; name_to_handle_at
0161  jge  #0x10b       0162 0193   ; syncfs
0162  jge  #0x10c       0193 0195   ; setns
0163  jge  #0x111       0166 0164   ; finit_module
0164  jge  #0x10e       0165 0195   ; process_vm_readv
0165  jge  #0x110       0195 0193   ; kcmp
0166  jge  #0x112       0167 0193   ; sched_setattr
0167  jge  #0x113       0195 0168   ; sched_getattr
0168  ld   [16]                     ; argument 0, low word
0169  jeq  #0x1         0193 0195
0170  jge  #0x1b5       0181 0171   ; openat2
0171  jge  #0x127       0176 0172
0172  jge  #0x11a       0174 0173   ; userfaultfd
0173  jge  #0x119       0195 0193   ; execveat
0174  jge  #0x11b       0175 0193   ; membarrier
0175  jge  #0x126       0193 0195   ; kexec_file_load
0176  jge  #0x1b2       0179 0177   ; pidfd_open
0177  jge  #0x1a9       0178 0195   ; io_uring_setup
0178  jge  #0x1ac       0193 0196   ; open_tree
0179  jge  #0x1b3       0180 0195   ; clone3
0180  jge  #0x1b4       0195 0196   ; close_range
0181  jge  #0x1c5       0189 0182   ; map_shadow_stack
0182  jge  #0x1ba       0185 0183   ; mount_setattr
0183  jge  #0x1b6       0184 0196   ; pidfd_getfd
0184  jge  #0x1b7       0195 0193   ; faccessat2
0185  jge  #0x1bc       0186 0193   ; landlock_create_ruleset
0186  jge  #0x1c4       0187 0195   ; fchmodat2
0187  ld   [32]                     ; argument 2, low word
0188  jset #0x800       0193 0195
0189  jge  #0x1d6       0192 0190   ; listns
0190  jge  #0x1d3       0191 0195   ; open_tree_attr
0191  jge  #0x1d4       0195 0193   ; file_getattr
0192  jge  #0x1d7       0194 0193   ; rseq_slice_yield
0193  ret  #0x00050001              ; ERRNO(1 EPERM)
0194  jge  #0x1d8       0196 0195   ; newer than every known call
0195  ret  #0x7fff0000              ; ALLOW
0196  ret  #0x00050026              ; ERRNO(38 ENOSYS)
