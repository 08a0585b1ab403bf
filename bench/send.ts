import http from "node:http"
import { median } from "./result.ts"

/** What it costs to send requests of some sizes that were made before, and to hear a short answer: in microseconds of CPU. */
const { BENCH_URL: url = "", BENCH_SIZES: sizes = "" } = process.env
const agent = new http.Agent({ keepAlive: true })

const sent = (body: Buffer): Promise<void> =>
  new Promise((resolve, reject) => {
    const headers = { "x-api-key": "test", "content-type": "application/json", "content-length": body.length }
    const options = { method: "POST", headers, agent }
    const request = http.request(`${url}/v1/messages`, options, (response) => response.resume().on("end", resolve))
    request.on("error", reject).end(body)
  })

const figures: Record<string, number> = {}
for (const size of sizes.split(",").map(Number)) {
  const messages = [{ role: "user", content: `read 0 ${"pad ".repeat(size / 4)}` }]
  const body = Buffer.from(JSON.stringify({ model: "any", max_tokens: 1024, stream: true, messages }))
  const times: number[] = []
  for (let n = 0; n < 60; n++) {
    const began = process.cpuUsage()
    await sent(body)
    const { user, system } = process.cpuUsage(began)
    if (n >= 20) times.push(user + system)
  }
  figures[size] = median(times)
}
console.log(JSON.stringify(figures))
process.exit()
