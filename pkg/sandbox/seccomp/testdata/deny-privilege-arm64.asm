0000  ld   [4]                      ; arch
0001  jeq  #0xc00000b7  0003 0002   ; AUDIT_ARCH_AARCH64
0002  ret  #0x80000000              ; KILL_PROCESS
0003  ld   [0]                      ; system call
0004  jge  #0xc8        0127 0005   ; bind
0005  jge  #0x59        0046 0006   ; acct
0006  jge  #0x33        0029 0007   ; chroot
0007  jge  #0x21        0016 0008   ; mknodat
0008  jge  #0x13        0010 0009   ; eventfd2
0009  jge  #0x12        0058 0060   ; lookup_dcookie
0010  jge  #0x1d        0011 0060   ; ioctl
0011  jge  #0x1e        0060 0012   ; ioprio_set
0012  ld   [24]                     ; argument 1, low word
0013  jeq  #0x5412      0058 0014
0014  jeq  #0x541c      0058 0015
0015  jeq  #0x5423      0058 0060
0016  jge  #0x27        0026 0017   ; umount2
0017  jge  #0x22        0060 0018   ; mkdirat
0018  ld   [32]                     ; argument 2, low word
0019  and  #0xf000
0020  jeq  #0x2000      0058 0021
0021  ld   [32]                     ; argument 2, low word
0022  and  #0xf000
0023  jeq  #0x6000      0058 0024
0024  ld   [32]                     ; argument 2, low word
0025  jset #0x800       0058 0060
0026  jge  #0x2a        0027 0058   ; nfsservctl
0027  jge  #0x2b        0060 0028   ; statfs
0028  ret  #0x00050026              ; ERRNO(38 ENOSYS)
0029  jge  #0x39        0042 0030   ; close
0030  jge  #0x35        0034 0031   ; fchmodat
0031  jge  #0x34        0032 0058   ; fchmod
0032  ld   [24]                     ; argument 1, low word
0033  jset #0x800       0058 0060
0034  jge  #0x36        0037 0035   ; fchownat
0035  ld   [32]                     ; argument 2, low word
0036  jset #0x800       0058 0060
0037  jge  #0x38        0038 0060   ; openat
0038  ld   [32]                     ; argument 2, low word
0039  jset #0x400040    0040 0060
0040  ld   [40]                     ; argument 3, low word
0041  jset #0x800       0058 0060
0042  jge  #0x3b        0044 0043   ; pipe2
0043  jge  #0x3a        0058 0060   ; vhangup
0044  jge  #0x3c        0045 0060   ; quotactl
0045  jge  #0x3d        0060 0058   ; getdents64
0046  jge  #0x74        0069 0047   ; syslog
0047  jge  #0x62        0065 0048   ; futex
0048  jge  #0x5c        0050 0049   ; personality
0049  jge  #0x5a        0060 0058   ; capget
0050  jge  #0x5d        0059 0051   ; exit
0051  ld   [16]                     ; argument 0, low word
0052  jeq  #0x0         0060 0053
0053  jeq  #0x8         0060 0054
0054  jeq  #0x20000     0060 0055
0055  jeq  #0x20008     0060 0056
0056  jeq  #0x40000     0060 0057
0057  jeq  #0xffffffff  0060 0058
0058  ret  #0x00050001              ; ERRNO(1 EPERM)
0059  jge  #0x61        0061 0060   ; unshare
0060  ret  #0x7fff0000              ; ALLOW
0061  ld   [20]                     ; argument 0, high word
0062  jset #0xffffffff  0175 0063
0063  ld   [16]                     ; argument 0, low word
0064  jset #0xfffaf0ff  0175 0177
0065  jge  #0x6b        0067 0066   ; timer_create
0066  jge  #0x68        0175 0177   ; kexec_load
0067  jge  #0x70        0068 0177   ; clock_settime
0068  jge  #0x71        0177 0175   ; clock_gettime
0069  jge  #0xa3        0074 0070   ; getrlimit
0070  jge  #0x8e        0072 0071   ; reboot
0071  jge  #0x76        0177 0175   ; sched_setparam
0072  jge  #0x8f        0073 0175   ; setregid
0073  jge  #0xa1        0175 0177   ; sethostname
0074  jge  #0xab        0076 0075   ; adjtimex
0075  jge  #0xaa        0175 0177   ; settimeofday
0076  jge  #0xc6        0077 0177   ; socket
0077  jge  #0xc7        0121 0078   ; socketpair
0078  ld   [16]                     ; argument 0, low word
0079  jeq  #0x1         0083 0080
0080  jeq  #0x2         0083 0081
0081  jeq  #0xa         0083 0082
0082  jeq  #0x10        0083 0126
0083  jeq  #0x10        0084 0087
0084  ld   [32]                     ; argument 2, low word
0085  jeq  #0x0         0086 0120
0086  ld   [16]                     ; argument 0, low word
0087  jeq  #0x2         0088 0092
0088  ld   [24]                     ; argument 1, low word
0089  and  #0xf
0090  jeq  #0x3         0175 0091
0091  ld   [16]                     ; argument 0, low word
0092  jeq  #0x2         0093 0097
0093  ld   [24]                     ; argument 1, low word
0094  and  #0xf
0095  jeq  #0xa         0175 0096
0096  ld   [16]                     ; argument 0, low word
0097  jeq  #0xa         0098 0102
0098  ld   [24]                     ; argument 1, low word
0099  and  #0xf
0100  jeq  #0x3         0175 0101
0101  ld   [16]                     ; argument 0, low word
0102  jeq  #0xa         0103 0107
0103  ld   [24]                     ; argument 1, low word
0104  and  #0xf
0105  jeq  #0xa         0175 0106
0106  ld   [16]                     ; argument 0, low word
0107  jeq  #0x2         0108 0114
0108  ld   [32]                     ; argument 2, low word
0109  jeq  #0x0         0113 0110
0110  jeq  #0x1         0113 0111
0111  jeq  #0x6         0113 0112
0112  jeq  #0x11        0113 0120
0113  ld   [16]                     ; argument 0, low word
0114  jeq  #0xa         0115 0177
0115  ld   [32]                     ; argument 2, low word
0116  jeq  #0x0         0177 0117
0117  jeq  #0x6         0177 0118
0118  jeq  #0x11        0177 0119
0119  jeq  #0x3a        0177 0120
0120  ret  #0x0005005d              ; ERRNO(93 EPROTONOSUPPORT)
0121  ld   [16]                     ; argument 0, low word
0122  jeq  #0x1         0177 0123
0123  jeq  #0x2         0177 0124
0124  jeq  #0xa         0177 0125
0125  jeq  #0x10        0177 0126
0126  ret  #0x00050061              ; ERRNO(97 EAFNOSUPPORT)
0127  jge  #0x11a       0154 0128   ; userfaultfd
0128  jge  #0x109       0145 0129   ; open_by_handle_at
0129  jge  #0xdd        0141 0130   ; execve
0130  jge  #0xd1        0137 0131   ; getsockopt
0131  jge  #0xd0        0132 0177   ; setsockopt
0132  ld   [24]                     ; argument 1, low word
0133  jeq  #0x6         0134 0177
0134  ld   [32]                     ; argument 2, low word
0135  jeq  #0x1f        0136 0177
0136  ret  #0x00050002              ; ERRNO(2 ENOENT)
0137  jge  #0xd9        0138 0177   ; add_key
0138  jge  #0xdc        0139 0175   ; clone
0139  ld   [16]                     ; argument 0, low word
0140  jset #0x7e020000  0175 0177
0141  jge  #0xe2        0143 0142   ; mprotect
0142  jge  #0xe0        0175 0177   ; swapon
0143  jge  #0xf1        0144 0177   ; perf_event_open
0144  jge  #0xf2        0177 0175   ; accept4
0145  jge  #0x110       0150 0146   ; kcmp
0146  jge  #0x10c       0148 0147   ; setns
0147  jge  #0x10b       0177 0175   ; syncfs
0148  jge  #0x10d       0149 0175   ; sendmmsg
0149  jge  #0x10e       0175 0177   ; process_vm_readv
0150  jge  #0x112       0152 0151   ; sched_setattr
0151  jge  #0x111       0175 0177   ; finit_module
0152  jge  #0x118       0153 0177   ; bpf
0153  jge  #0x119       0177 0175   ; execveat
0154  jge  #0x1b6       0164 0155   ; pidfd_getfd
0155  jge  #0x1ac       0160 0156   ; open_tree
0156  jge  #0x126       0158 0157   ; kexec_file_load
0157  jge  #0x11b       0177 0175   ; membarrier
0158  jge  #0x127       0159 0175
0159  jge  #0x1a9       0178 0177   ; io_uring_setup
0160  jge  #0x1b3       0162 0161   ; clone3
0161  jge  #0x1b2       0177 0175   ; pidfd_open
0162  jge  #0x1b4       0163 0178   ; close_range
0163  jge  #0x1b5       0178 0177   ; openat2
0164  jge  #0x1c5       0171 0165   ; map_shadow_stack
0165  jge  #0x1ba       0167 0166   ; mount_setattr
0166  jge  #0x1b7       0177 0175   ; faccessat2
0167  jge  #0x1bc       0168 0175   ; landlock_create_ruleset
0168  jge  #0x1c4       0169 0177   ; fchmodat2
0169  ld   [32]                     ; argument 2, low word
0170  jset #0x800       0175 0177
0171  jge  #0x1d6       0174 0172   ; listns
0172  jge  #0x1d3       0173 0177   ; open_tree_attr
0173  jge  #0x1d4       0177 0175   ; file_getattr
0174  jge  #0x1d7       0176 0175   ; rseq_slice_yield
0175  ret  #0x00050001              ; ERRNO(1 EPERM)
0176  jge  #0x1d8       0178 0177   ; newer than every known call
0177  ret  #0x7fff0000              ; ALLOW
0178  ret  #0x00050026              ; ERRNO(38 ENOSYS)
