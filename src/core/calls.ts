import type { Event } from "./event.ts"
import { above, type CallView, type Deeds, lineage, type RunView, type View } from "./view.ts"

type Ended = Extract<Event, { type: "call.ended" }>
type OfCall = Extract<Event, { type: `call.${string}` | `gate.${string}` }>

const outputKept = 4_000

/** What an event changes in the calls of the turn at hand, and in what they tell of the run and of those above it. */
export function stepCall(view: View, run: RunView, event: OfCall): void {
  switch (event.type) {
    case "call.started":
      openCall(run, event.id).state = "started"
      return
    case "call.planned":
      openCall(run, event.id).plan = event.change
      return
    case "call.delta": {
      const open = openCall(run, event.id)
      open.output = (open.output + event.text).slice(-outputKept)
      return
    }
    case "call.ended":
      end(run, event)
      for (let each: RunView | undefined = run; each; each = above(view, each)) {
        each.family.toolCalls++
        record(each.deeds, event)
      }
      return
    case "gate.asked": {
      const open = openCall(run, event.call)
      const { access, parts, always, details } = event
      open.state = "asking"
      open.asking = { access, ...(parts && { parts }), ...(always && { always }), ...(details && { details }) }
      return
    }
    case "gate.answered": {
      const open = openCall(run, event.call)
      const runs = lineage(view, run)
      if (!event.allow) for (const { deeds } of runs) deeds.refused++
      open.state = "waiting"
      open.answer = { allow: event.allow, ...(event.word !== undefined && { word: event.word }) }
      delete open.asking
      if (event.always) runs.at(-1)!.allowed.push(...event.always)
      return
    }
    default:
      event satisfies never
  }
}

function end(run: RunView, event: Ended): void {
  const open = openCall(run, event.id)
  if (!open.result) run.openCalls--
  open.state = "ended"
  open.output = ""
  open.result = { role: "result", call: event.id, name: open.call.name, ok: event.ok, text: event.text }
  if (event.images) open.result.images = event.images
  run.toolCalls++
  for (const { path, hash } of event.touched ?? []) {
    if (!run.filesBefore.has(path)) run.filesBefore.set(path, run.files.get(path) ?? null)
    run.files.set(path, hash)
    run.touchedWith.set(path, open.call.name)
  }
  if (event.details?.kind === "todo") run.todo = event.details.items
  if (event.fault) {
    const text = `${open.call.name}: ${event.text}`
    run.mistake = { text, times: run.mistake.text === text ? run.mistake.times + 1 : 1 }
  } else if (run.mistake.times > 0) run.mistake = { text: "", times: 0 }
  if (run.openCalls > 0) return
  for (const { result } of run.calls.values()) if (result) run.messages.push(result)
  run.calls = new Map()
  run.filesBefore.clear()
}

function record(deeds: Deeds, { touched = [], details }: Ended): void {
  for (const touch of touched) {
    if (touch.did === "read") deeds.read.add(touch.path)
    else deeds.changed.set(touch.path, { before: (deeds.changed.get(touch.path) ?? touch).before, after: touch.hash })
  }
  if (details?.kind === "command") deeds.commands.push({ command: details.command, exit: details.exit })
}

function openCall(run: RunView, id: string): CallView {
  const open = run.calls.get(id)
  if (!open) throw new Error(`run ${run.id} has no open call ${id}`)
  return open
}
