export { illegal } from "./testing/illegal.ts"
export { type Recorded, type Scripted, type ScriptedOptions, scripted } from "./testing/model.ts"
export {
  type CallReply,
  call,
  cut,
  errorEvent,
  type Fail,
  type Fault,
  fail,
  type PartReply,
  type Place,
  type Reply,
  raw,
  rawCall,
  type Said,
  shaped,
  stall,
  status,
} from "./testing/reply.ts"
export { type Asked, type Format, type Heard, type Script, steps, tries } from "./testing/script.ts"
export type { Wait } from "./testing/send.ts"
export { type Refused, type ServeOptions, type Server, serve } from "./testing/server.ts"
export type { Shape } from "./testing/shape.ts"
