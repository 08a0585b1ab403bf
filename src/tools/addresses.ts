import { BlockList, isIP } from "node:net"

/** IPv4 networks that are not the public internet: private, shared, loopback, link-local, test, multicast, reserved. */
const closed4: [string, number][] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
]

/** The same for IPv6, with the tunnels (Teredo, 6to4, local NAT64) that could carry a closed IPv4 address. */
const closed6: [string, number][] = [
  ["::", 128],
  ["::1", 128],
  ["64:ff9b:1::", 48],
  ["100::", 64],
  ["2001::", 32],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["fc00::", 7],
  ["fe80::", 10],
  ["fec0::", 10],
  ["ff00::", 8],
]

/** Where IPv6 writes an IPv4 address into its last 32 bits: mapped, compatible, translated, NAT64. */
const carriers = ["::ffff:", "::", "::ffff:0:", "64:ff9b::"]

const closed = new BlockList()
for (const [network, bits] of closed4) {
  closed.addSubnet(network, bits, "ipv4")
  for (const carrier of carriers) closed.addSubnet(`${carrier}${network}`, 96 + bits, "ipv6")
}
for (const [network, bits] of closed6) closed.addSubnet(network, bits, "ipv6")

/** Whether an address leads to this machine or its own network rather than to the internet. */
export function isPrivate(address: string): boolean {
  const [bare = ""] = address.split("%")
  const family = isIP(bare)
  if (family === 0) return true
  return closed.check(bare, family === 4 ? "ipv4" : "ipv6")
}
