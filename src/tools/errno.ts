import { codeOf } from "../core/error.ts"

const sentences: Record<string, (path: string) => string> = {
  ELOOP: (path) => `${path} is a link that leads nowhere or was just replaced: it is not followed`,
  ENOTDIR: (path) => `${path} cannot be there: something above it is not a folder`,
  EACCES: (path) => `${path}: the system allows no access to it`,
  EPERM: (path) => `${path}: the system allows no access to it`,
  EROFS: (path) => `${path} is on a read-only file system`,
  ENOSPC: (path) => `the disk is full: ${path} was not changed`,
  EFBIG: (path) => `${path} would be larger than the system allows: it was not changed`,
  EDQUOT: (path) => `the disk quota is used up: ${path} was not changed`,
  ENAMETOOLONG: (path) => `${path.slice(0, 100)}… is too long a name for the file system`,
  ENXIO: (path) => `${path} is a pipe, socket or device, not a regular file: it is not read or written`,
  EMFILE: (path) => `${path}: too many files are open at the moment; try again`,
  ENFILE: (path) => `${path}: too many files are open at the moment; try again`,
}

/** An error of the file system in words, its code kept. */
export function plainly(error: unknown, path: string): unknown {
  const code = codeOf(error)
  const sentence = code === undefined ? undefined : sentences[code]
  return sentence ? Object.assign(new Error(sentence(path), { cause: error }), { code }) : error
}
