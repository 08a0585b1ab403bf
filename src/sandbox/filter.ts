/**
 * The system calls that a fenced command is refused: a seccomp filter, as the words of a BPF program.
 * Few, and each for a reason; files, processes and the network are the namespaces' work.
 */
export function filter(arch: string): Buffer | undefined {
  const processor = processors[arch]
  if (!processor) return undefined
  const { calls, audit } = processor
  return Buffer.concat([
    // A call in another processor's numbering (32 bit on 64) would be judged by the wrong table.
    word(load, field.arch),
    word(jump.equal, audit, 1, 0),
    word(answer, kill),
    word(load, field.call),
    // The x32 numbering shares the architecture's name; its calls have this bit.
    word(jump.bits, 0x4000_0000, 0, 1),
    word(answer, refuse(ENOSYS)),
    ...rules.flatMap((rule) => judged(rule, calls[rule.call])),
    word(answer, allow),
  ])
}

type Call = (typeof rules)[number]["call"]
type Rule = {
  call: string
  errno: number
  /** Only these values of an argument's bits pass, or all but these. */
  if?: { argument: number; bits?: number; only?: readonly number[]; not?: readonly number[] }
}

const [EPERM, ENOSYS] = [1, 38]
const [AF_INET, AF_INET6, AF_NETLINK, SOCK_STREAM, SOCK_SEQPACKET] = [2, 10, 16, 1, 5]
const [TIOCSTI, TIOCLINUX, CLONE_NEWUSER] = [0x5412, 0x541c, 0x1000_0000]

const rules = [
  // Sockets of the file system (docker, D-Bus, agents) and of hosts (vsock) pass through every namespace that we make.
  { call: "socket", errno: EPERM, if: { argument: 0, only: [AF_INET, AF_INET6, AF_NETLINK] } },
  // Node needs pairs; one of datagrams could be sent to any address after all.
  { call: "socketpair", errno: EPERM, if: { argument: 1, bits: 0xf, only: [SOCK_STREAM, SOCK_SEQPACKET] } },
  // Makes sockets behind this filter's back. Programs do without it when it is not there.
  { call: "io_uring_setup", errno: ENOSYS },
  // The user's keys are the same inside and outside.
  { call: "add_key", errno: EPERM },
  { call: "request_key", errno: EPERM },
  { call: "keyctl", errno: EPERM },
  // A new user namespace gives back all capabilities, and with them most of the kernel to attack.
  { call: "unshare", errno: EPERM, if: { argument: 0, bits: CLONE_NEWUSER, only: [0] } },
  { call: "clone", errno: EPERM, if: { argument: 0, bits: CLONE_NEWUSER, only: [0] } },
  // Its flags are in memory, where no filter sees them; libraries fall back to clone.
  { call: "clone3", errno: ENOSYS },
  // Types into the terminal, to be read by the shell outside.
  { call: "ioctl", errno: EPERM, if: { argument: 1, not: [TIOCSTI, TIOCLINUX] } },
] as const satisfies readonly Rule[]

const processors: Record<string, { audit: number; calls: Record<Call, number> }> = {
  x64: {
    audit: 0xc000_003e,
    calls: {
      ioctl: 16,
      socket: 41,
      socketpair: 53,
      clone: 56,
      add_key: 248,
      request_key: 249,
      keyctl: 250,
      unshare: 272,
      io_uring_setup: 425,
      clone3: 435,
    },
  },
  arm64: {
    audit: 0xc000_00b7,
    calls: {
      ioctl: 29,
      unshare: 97,
      socket: 198,
      socketpair: 199,
      add_key: 217,
      request_key: 218,
      keyctl: 219,
      clone: 220,
      io_uring_setup: 425,
      clone3: 435,
    },
  },
}

const load = 0x20
const and = 0x54
const answer = 0x06
const jump = { equal: 0x15, bits: 0x45 }
const kill = 0x8000_0000
const allow = 0x7fff_0000
const refuse = (errno: number): number => 0x0005_0000 | errno

/** Where the kernel shows a call to the filter. Of arguments the lower half counts: the kernel reads no more of these. */
const field = { call: 0, arch: 4, argument: (n: number): number => 16 + 8 * n }

function word(code: number, value: number, yes = 0, no = 0): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeUInt16LE(code, 0)
  bytes.writeUInt8(yes, 2)
  bytes.writeUInt8(no, 3)
  bytes.writeUInt32LE(value, 4)
  return bytes
}

/** Answers this call; another one jumps over all of it. */
function judged(rule: Rule, call: number): Buffer[] {
  const verdict = verdictOf(rule)
  return [word(jump.equal, call, 0, verdict.length), ...verdict]
}

function verdictOf({ errno, if: condition }: Rule): Buffer[] {
  if (!condition) return [word(answer, refuse(errno))]
  const { argument, bits = 0xffff_ffff, only, not } = condition
  const values = only ?? not ?? []
  return [
    word(load, field.argument(argument)),
    word(and, bits),
    // One that is met jumps over the tests after it and the answer for those that none met.
    ...values.map((value, n) => word(jump.equal, value, values.length - n, 0)),
    word(answer, only ? refuse(errno) : allow),
    word(answer, only ? allow : refuse(errno)),
  ]
}
