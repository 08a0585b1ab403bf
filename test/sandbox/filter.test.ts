import assert from "node:assert/strict"
import { test } from "node:test"
import fc from "fast-check"
import { filter } from "../../src/sandbox/filter.ts"

type Call = { call: number; arch: number; args: readonly number[] }

/** The few instructions of the kernel's machine that such programs use. */
function judged(words: Buffer, { call, arch, args }: Call): number {
  const data = Buffer.alloc(64)
  data.writeUInt32LE(call, 0)
  data.writeUInt32LE(arch, 4)
  for (const [n, value] of args.entries()) data.writeBigUInt64LE(BigInt(value), 16 + 8 * n)
  let accumulator = 0
  for (let at = 0; at < words.length; at += 8) {
    const [yes, no, value] = [words[at + 2]!, words[at + 3]!, words.readUInt32LE(at + 4)]
    switch (words.readUInt16LE(at)) {
      case 0x20:
        accumulator = data.readUInt32LE(value)
        break
      case 0x54:
        accumulator = (accumulator & value) >>> 0
        break
      case 0x15:
        at += 8 * (accumulator === value ? yes : no)
        break
      case 0x45:
        at += 8 * ((accumulator & value) !== 0 ? yes : no)
        break
      case 0x06:
        return value
      default:
        throw new Error(`an unknown instruction at ${at}`)
    }
  }
  throw new Error("the program has no end")
}

const allowed = 0x7fff0000
const killed = 0x80000000
const eperm = 0x50001
const enosys = 0x50026

const machines = {
  x64: {
    arch: 0xc000003e,
    other: 0x40000003,
    ioctl: 16,
    socket: 41,
    socketpair: 53,
    clone: 56,
    keys: [248, 249, 250],
    unshare: 272,
  },
  arm64: {
    arch: 0xc00000b7,
    other: 0x40000028,
    ioctl: 29,
    socket: 198,
    socketpair: 199,
    clone: 220,
    keys: [217, 218, 219],
    unshare: 97,
  },
}

for (const [name, { arch, other, ioctl, socket, socketpair, clone, keys, unshare }] of Object.entries(machines)) {
  const words = filter(name)!
  const of = (call: number, ...args: number[]) => judged(words, { call, arch, args })

  test(`${name}: sockets are of the internet, netlink or connected pairs`, () => {
    const families = Array.from({ length: 64 }, (_, family) => family)
    assert.deepEqual(
      families.filter((family) => of(socket, family, 1, 0) === allowed),
      [2, 10, 16],
    )
    assert.equal(of(socket, 1, 1, 0), eperm)
    const kinds = Array.from({ length: 16 }, (_, kind) => kind)
    const flags = 0x80800
    assert.deepEqual(
      kinds.filter((kind) => of(socketpair, 1, kind | flags, 0) === allowed),
      [1, 5],
    )
  })

  test(`${name}: what goes round the fence is refused, and what programs can do without is not there`, () => {
    for (const call of keys) assert.equal(of(call), eperm)
    for (const call of [clone, unshare]) {
      assert.equal(of(call, 0x10000000 | 17), eperm)
      assert.equal(of(call, 0x6fffffff), allowed)
    }
    for (const call of [425, 435]) assert.equal(of(call), enosys)
    for (const order of [0x5412, 0x541c]) assert.equal(of(ioctl, 0, order), eperm)
    assert.equal(of(ioctl, 0, 0x5413), allowed)
    // The kernel reads the lower half of these arguments; a filter that read all of them could be fooled.
    assert.equal(of(socket, 2 ** 40 + 1, 1, 0), eperm)
    assert.equal(of(ioctl, 0, 2 ** 40 + 0x5412), eperm)
  })

  test(`${name}: calls in another numbering do not pass by under a harmless number`, () => {
    assert.equal(judged(words, { call: 0, arch: other, args: [] }), killed)
    assert.equal(of(0x40000000 | socket, 1), enosys)
  })

  test(`${name}: law: every other call passes, whatever its arguments`, () => {
    const known = [ioctl, socket, socketpair, clone, unshare, 425, 435, ...keys]
    const number = fc.integer({ min: 0, max: 1_000 }).filter((call) => !known.includes(call))
    fc.assert(
      fc.property(number, fc.array(fc.maxSafeNat(), { minLength: 6, maxLength: 6 }), (call, args) => {
        assert.equal(of(call, ...args), allowed)
      }),
    )
  })
}

test("an unknown processor has no filter", () => assert.equal(filter("riscv64"), undefined))
