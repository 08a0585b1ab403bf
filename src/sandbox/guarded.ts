import { sep } from "node:path"

/** Whoever writes below these, or to these, may get commands run later: by git, an editor, a shell, a package manager. */
const folders = new Set([
  ".git",
  "git~1",
  ".hg",
  ".svn",
  ".legwork",
  ".claude",
  ".vscode",
  ".idea",
  ".husky",
  ".devcontainer",
  ".ssh",
  ".gnupg",
  ".aws",
])

const files = new Set([
  ".bashrc",
  ".bash_profile",
  ".bash_login",
  ".bash_logout",
  ".bash_aliases",
  ".profile",
  ".zshrc",
  ".zshenv",
  ".zprofile",
  ".zlogin",
  ".zlogout",
  ".kshrc",
  ".cshrc",
  ".tcshrc",
  ".login",
  ".logout",
  ".inputrc",
  ".xprofile",
  ".xinitrc",
  "config.fish",
  ".envrc",
  ".npmrc",
  ".yarnrc",
  ".yarnrc.yml",
  ".pypirc",
  ".netrc",
  ".curlrc",
  ".wgetrc",
  ".gitconfig",
  ".gitmodules",
  ".mcp.json",
  ".vimrc",
  ".exrc",
])

export const isGuarded = (path: string): boolean => {
  const names = path.split(sep).map(plain)
  return names.some((name) => folders.has(name)) || files.has(names.at(-1) ?? "")
}

/** Whether programs keep this for themselves: our own folder is there, with code that the next start runs. */
export const isState = (path: string): boolean => {
  const names = path.split(sep).map(plain)
  return names.some((name, at) => name === ".local" && names[at + 1] === "state")
}

/** As a file system that ignores case and invisible characters would read the name. */
const plain = (name: string): string =>
  name
    .normalize("NFKC")
    .replace(/\p{Default_Ignorable_Code_Point}/gu, "")
    .toLowerCase()
    .replace(/[. ]+$/, "")
