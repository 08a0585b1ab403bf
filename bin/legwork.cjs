#!/bin/sh
':' //; n="${0%/*}/../node_modules/node/bin/node"; [ -x "$n" ] && exec "$n" --min-semi-space-size=16 "$0" "$@"; exec node --min-semi-space-size=16 "$0" "$@"
// Both a shell script and JavaScript: the shell finds a Node that is new enough and becomes it, so that the process
// that people start, signal and kill is the program itself. Old syntax, so that an old Node can at least say so.
// A larger nursery saves the garbage collections of a start, a tenth of it.
'use strict'

var path = require('path')
if (isNewEnough(process.versions.node)) start()
else restart()

function isNewEnough(text) {
  var version = text.split('.').map(Number)
  return version[0] > 22 || (version[0] === 22 && version[1] >= 19)
}

function start() {
  if (process.env.LEGWORK_TETHER) dieWithLauncher()
  var state = process.env.XDG_STATE_HOME || ''
  if (!path.isAbsolute(state)) state = path.join(process.env.HOME || require('os').userInfo().homedir, '.local', 'state')
  var cache = path.join(state, 'legwork', 'cache', 'compile')
  if (isMade(cache)) require('module').enableCompileCache(cache)
  import('../dist/cli/main.js').then(
    function (main) {
      return main.run()
    },
    function (error) {
      if (error.code === 'ERR_MODULE_NOT_FOUND') error = 'legwork is not built here; run: npm run build'
      console.error(error)
      process.exitCode = 1
    }
  )
}

/** Step by step: asked to make a folder and all above it, Node tries for ever where a file system takes none. */
function isMade(folder) {
  var fs = require('fs')
  if (fs.existsSync(folder)) return true
  try {
    if (!isMade(path.dirname(folder))) return false
    fs.mkdirSync(folder, 448)
    return true
  } catch (error) {
    return error.code === 'EEXIST'
  }
}

/** Reached only through `node bin/legwork.cjs` with an old Node. */
function restart() {
  var node
  try {
    var manifest = require.resolve('node/package.json')
    if (!isNewEnough(require(manifest).version)) throw new Error('too old')
    node = path.join(path.dirname(manifest), 'bin', 'node')
    require('fs').accessSync(node)
  } catch (error) {
    console.error('legwork needs Node 22.19 or newer; this is ' + process.version + '. Install a newer Node, or run: npm i node@24')
    process.exit(1)
  }
  var env = Object.assign({}, process.env, { LEGWORK_TETHER: '1' })
  var args = [__filename].concat(process.argv.slice(2))
  var child = require('child_process').spawn(node, args, { stdio: ['inherit', 'inherit', 'inherit', 'pipe'], env: env })
  var signals = ['SIGINT', 'SIGTERM', 'SIGHUP']
  signals.forEach(function (signal) {
    process.on(signal, function () {
      // A terminal has sent the interrupt to both of us already.
      if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal)
    })
  })
  child.on('exit', function (code, signal) {
    process.exit(signal ? 128 + require('os').constants.signals[signal] : code)
  })
}

/** The pipe closes when the launcher is gone, however it went. */
function dieWithLauncher() {
  delete process.env.LEGWORK_TETHER
  var tether = new (require('net').Socket)({ fd: 3 })
  tether.on('close', function () {
    process.kill(process.pid, 'SIGKILL')
  })
  tether.on('error', function () {})
  tether.resume()
  tether.unref()
}
