// What the tests need from the system. As root on Debian it is installed here; else it is said what to install.
// Old syntax: this is also where an old Node is told off.
"use strict"
var spawnSync = require("child_process").spawnSync

if (Number(process.versions.node.split(".")[0]) < 24) {
  console.error(
    "The tests run on Node 24, which `npm ci` brings along; this is " +
      process.version +
      ". Run `npm ci` again, without --ignore-scripts.",
  )
  process.exit(1)
}

// What only some tests need is wished for: without it they are skipped.
var needs = [
  { command: "git", debian: "git" },
  { command: "bash", debian: "bash" },
  { command: "ps", debian: "procps" },
  { command: "bwrap", debian: "bubblewrap", wished: "the tests of the sandbox" },
]

function has(command) {
  return spawnSync("sh", ["-c", "command -v " + command], { stdio: "ignore" }).status === 0
}

function missing() {
  return needs.filter((need) => !has(need.command) && (!need.wished || process.platform === "linux"))
}

var lacking = missing()
if (lacking.length > 0) {
  var isRoot = process.getuid && process.getuid() === 0
  if (isRoot && has("apt-get")) {
    console.log("installing what the tests need: " + lacking.map((need) => need.debian).join(", "))
    var quiet = { stdio: ["ignore", "ignore", "inherit"], timeout: 300000 }
    spawnSync("apt-get", ["update", "-q"], quiet)
    // One by one: what is only wished for must not keep the rest away.
    lacking.forEach((need) => {
      spawnSync("apt-get", ["install", "-y", "-q", "--no-install-recommends", need.debian], quiet)
    })
    lacking = missing()
  }
  lacking.forEach((need) => {
    var how = "On Debian, as root: apt-get install -y " + need.debian
    if (need.wished) console.log("Skipping " + need.wished + ": they need " + need.debian + ". " + how)
    else console.error("The tests need " + need.debian + ". " + how)
  })
  if (lacking.some((need) => !need.wished)) process.exit(1)
}
