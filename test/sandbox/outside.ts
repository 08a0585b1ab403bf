import { type ChildProcess, spawn } from "node:child_process"
import { createSocket } from "node:dgram"
import { once } from "node:events"
import { mkdirSync } from "node:fs"
import { type AddressInfo, createServer, type Server } from "node:net"
import { join } from "node:path"

export type Outside = { env: Record<string, string>; heard: string[]; close(): void }

/** Everything here hears when somebody speaks to it. */
export async function listen(folder: string, token: string): Promise<Outside> {
  const heard: string[] = []
  const server = (what: string): Server =>
    createServer((socket) => {
      heard.push(`heard on ${what}`)
      socket.on("error", () => {}).end("hello")
    })
  const [tcp, unix, abstract] = [server("tcp"), server("unix"), server("abstract")]
  mkdirSync(folder)
  const path = join(folder, "stream")
  await Promise.all([
    once(tcp.listen(0, "127.0.0.1"), "listening"),
    once(unix.listen(path), "listening"),
    once(abstract.listen(`\0${token}`), "listening"),
  ])
  const udp = createSocket("udp4", () => heard.push("heard on udp"))
  udp.bind(0, "127.0.0.1")
  await once(udp, "listening")
  const datagrams = await mailbox(join(folder, "datagrams"), () => heard.push("heard a datagram"))
  const env = {
    TCP: `${(tcp.address() as AddressInfo).port}`,
    UDP: `${udp.address().port}`,
    SOCKET: path,
    DATAGRAMS: join(folder, "datagrams"),
  }
  const close = () => {
    for (const each of [tcp, unix, abstract, udp]) each.close()
    datagrams.kill("SIGKILL")
  }
  return { env, heard, close }
}

/** Node has no unix datagrams; Perl has. */
async function mailbox(path: string, arrived: () => void): Promise<ChildProcess> {
  const script = `use Socket; $| = 1; socket(S, AF_UNIX, SOCK_DGRAM, 0); bind(S, sockaddr_un($ARGV[0])) or die; print "up\\n";
    while (defined recv(S, my $b, 99, 0)) { print "got\\n" }`
  const child = spawn("perl", ["-e", script, path], { stdio: ["ignore", "pipe", "inherit"] })
  await once(child.stdout, "data")
  child.stdout.on("data", arrived)
  return child
}
