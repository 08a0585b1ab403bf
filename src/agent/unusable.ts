import { reasonOf } from "../core/error.ts"
import { noUsage } from "../core/usage.ts"
import type { Model } from "../model/model.ts"

/** Stands for a model that cannot be had, so that the run fails in the ordinary way and says why. */
export const unusable = (id: string, error: unknown): Model => ({
  id,
  images: false,
  window: Number.POSITIVE_INFINITY,
  cost: () => 0,
  stream: async () => ({
    ok: false,
    error: { kind: "not_found", message: reasonOf(error) },
    retry: false,
    usage: noUsage(),
  }),
})
