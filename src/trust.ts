import { foldersDown } from "./config/repository.ts"
import { forget, recall, remember } from "./trust/record.ts"
import { type Claim, type Repository, repositoryAt, type User } from "./trust/repository.ts"

export { type Repository, repositoryAt } from "./trust/repository.ts"

export type Trust =
  /** It has no files that could give power. */
  | { state: "nothing" }
  | { state: "trusted" | "untrusted"; repository: Repository }
  /** It was trusted with other contents; `changed` are the files that came, went or differ. */
  | { state: "changed"; repository: Repository; changed: string[] }

/** `folder` is the user's state folder. */
type Options = User & { folder: string }

/** A repository that cannot be trusted, and what to do about it. */
export class TrustError extends Error {
  override readonly name = "TrustError"
}

export async function trustOf(cwd: string, options: Options): Promise<Trust> {
  const repository = await repositoryAt(cwd, options)
  const { root, files, folders, problems } = repository
  if (files.length === 0 && problems.length === 0) return { state: "nothing" }
  const known = await recall(root, options.folder)
  if (!known || problems.length > 0) return { state: "untrusted", repository }
  const before = known.filter(({ folder }) => folders.includes(folder))
  const changed = differing(before, files)
  return changed.length > 0 ? { state: "changed", repository, changed } : { state: "trusted", repository }
}

/** Remembers that the user trusts what is there now. `hash`: only if it still is what the user was shown. */
export async function trust(cwd: string, options: Options & { hash?: string }): Promise<Repository> {
  const repository = await repositoryAt(cwd, options)
  const { root, files, folders, hash, problems } = repository
  const [problem] = problems
  if (problem) throw new TrustError(`${root} cannot be trusted: ${problem.path} ${problem.message}`)
  if (options.hash !== undefined && options.hash !== hash)
    throw new TrustError(`${root} is not trusted: its files have changed since they were shown; look at them again`)
  if (files.length === 0) return repository
  const known = (await recall(root, options.folder)) ?? []
  const elsewhere = known.filter(({ folder }) => !folders.includes(folder))
  await remember(root, options.folder, [...elsewhere, ...files])
  return repository
}

/** False if it was not trusted. */
export async function distrust(cwd: string, { folder }: Pick<Options, "folder">): Promise<boolean> {
  const [root] = foldersDown(cwd)
  return forget(root, folder)
}

function differing(before: readonly Claim[], now: readonly Claim[]): string[] {
  const hashes = new Map(before.map(({ path, hash }) => [path, hash]))
  const paths = new Set(now.map(({ path }) => path))
  const gone = before.filter(({ path }) => !paths.has(path))
  return [...now.filter(({ path, hash }) => hashes.get(path) !== hash), ...gone].map(({ path }) => path)
}
