import assert from "node:assert/strict"
import { EventEmitter } from "node:events"
import { test } from "node:test"
import { guard } from "../../src/cli/tui/guard.ts"

test("while the terminal is ours, what happens to the process is heard in one place, and afterwards as before", () => {
  const [stdin, stdout, stderr] = [new EventEmitter(), new EventEmitter(), new EventEmitter()]
  const source = Object.assign(new EventEmitter(), { stdin, stdout, stderr })
  const heard: string[] = []
  const tell = (word: string) => () => void heard.push(word)
  stdout.on("error", tell("other"))
  const back = guard(
    { end: tell("end"), gone: tell("gone"), crash: (error) => void heard.push(`crash: ${error}`), warn: tell("warn") },
    source,
  )
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) source.emit(signal)
  stdout.emit("error", new Error("EIO"))
  stderr.emit("error", new Error("EIO"))
  stdin.emit("end")
  source.emit("warning", new Error("too many listeners"))
  source.emit("uncaughtException", new Error("a bug"))
  source.emit("unhandledRejection", "no reason")
  assert.deepEqual(heard.splice(0), [
    "end",
    "end",
    "gone",
    "gone",
    "gone",
    "warn",
    "crash: Error: a bug",
    "crash: no reason",
  ])
  back()
  stdout.emit("error", new Error("EIO"))
  assert.deepEqual(heard, ["other"])
  assert.deepEqual(
    [source, stdin, stderr].flatMap((each) => each.eventNames()),
    [],
  )
})
