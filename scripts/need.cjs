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

var needs = [
  { command: "git", debian: "git" },
  { command: "bash", debian: "bash" },
  { command: "ps", debian: "procps" },
]

function missing() {
  return needs.filter((need) => spawnSync("sh", ["-c", "command -v " + need.command], { stdio: "ignore" }).status !== 0)
}

var packages = missing().map((need) => need.debian)
if (packages.length > 0) {
  var isRoot = process.getuid && process.getuid() === 0
  if (!isRoot || spawnSync("sh", ["-c", "command -v apt-get"], { stdio: "ignore" }).status !== 0) {
    console.error(
      "The tests need " + packages.join(", ") + ". On Debian, as root: apt-get install -y " + packages.join(" "),
    )
    process.exit(1)
  }
  console.log("installing what the tests need: " + packages.join(", "))
  var quiet = { stdio: ["ignore", "ignore", "inherit"] }
  spawnSync("apt-get", ["update", "-q"], quiet)
  spawnSync("apt-get", ["install", "-y", "-q", "--no-install-recommends"].concat(packages), quiet)
  if (missing().length > 0) process.exit(1)
}
