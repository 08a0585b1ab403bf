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
  var loader = loaderOf(path.join(__dirname, '..', 'dist', 'cli'), cacheFolder())
  var main
  try {
    main = loader.load('./main.cjs')
  } catch (error) {
    console.error(error.code === 'ENOENT' ? 'legwork is not built here; run: npm run build' : error)
    process.exitCode = 1
    return
  }
  main.run(loader.keep)
}

/** Where compiled code is kept; nowhere but in the folder that no agent may write, wherever it works. */
function cacheFolder() {
  var state = process.env.XDG_STATE_HOME || ''
  try {
    if (!path.isAbsolute(state)) state = path.join(process.env.HOME || require('os').userInfo().homedir, '.local', 'state')
  } catch (error) {
    return undefined // a user without an account
  }
  return path.basename(state) === 'state' && path.basename(path.dirname(state)) === '.local'
    ? path.join(state, 'legwork', 'cache', 'code')
    : undefined
}

/**
 * Loads the files of the bundle with the machine code that an earlier start left behind. Node's own cache is filled before
 * anything has run and so holds none of the functions that a start needs: compiling those was a third of it.
 */
function loaderOf(bundle, cache) {
  var fs = require('fs')
  var vm = require('vm')
  var zlib = require('zlib')
  var modules = {}
  var scripts = []

  function load(name) {
    if (name.charAt(0) !== '.') return require(name)
    if (modules[name]) return modules[name].exports
    var file = path.join(bundle, name)
    var text = fs.readFileSync(file, 'latin1')
    var kept = cache && path.join(cache, nameOf(text))
    var found = read(kept)
    var script = new vm.Script('(function (exports, require, module, __filename, __dirname) {' + text + '\n})', {
      filename: file,
      cachedData: found.code,
      importModuleDynamically: vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER
    })
    scripts.push({ script: script, kept: kept, spent: script.cachedDataRejected === false ? found.spent : 0 })
    var module = (modules[name] = { exports: {} })
    script.runInThisContext()(module.exports, load, module, file, bundle)
    return module.exports
  }

  /** The bundle begins with its own hash; what is kept fits no other Node. */
  function nameOf(text) {
    return text.slice(2, text.indexOf('\n')) + '-' + process.version + '-' + process.arch
  }

  /** Damaged machine code would crash us, and Node does not look. */
  function read(kept) {
    try {
      var bytes = fs.readFileSync(kept)
      var code = bytes.subarray(8)
      return zlib.crc32(code) === bytes.readUInt32LE(0) ? { code: code, spent: bytes.readUInt32LE(4) } : {}
    } catch (error) {
      return {}
    }
  }

  /**
   * Called once a session has begun. Whoever has worked much more than the start that left the code has run more of it, and
   * leaves its own. Whatever fails here costs the next start some milliseconds.
   */
  function keep() {
    var used = process.cpuUsage()
    var spent = Math.round((used.user + used.system) / 1000)
    scripts.forEach(function (each) {
      if (spent > 1.5 * each.spent && cache && isMade(cache)) write(each, spent)
    })
  }

  function write(each, spent) {
    var own = each.kept + '.' + process.pid
    try {
      var code = each.script.createCachedData()
      var head = Buffer.alloc(8)
      head.writeUInt32LE(zlib.crc32(code), 0)
      head.writeUInt32LE(spent, 4)
      fs.writeFileSync(own, Buffer.concat([head, code]), { mode: 384 })
      fs.renameSync(own, each.kept)
      each.spent = spent
      forgetOld(path.dirname(each.kept))
    } catch (error) {
      forget(own)
    }
  }

  /** What versions that are gone left behind. */
  function forgetOld(folder) {
    var month = 30 * 24 * 3600 * 1000
    fs.readdirSync(folder).forEach(function (name) {
      var file = path.join(folder, name)
      if (Date.now() - fs.statSync(file).mtimeMs > month) forget(file)
    })
  }

  function forget(file) {
    try {
      fs.unlinkSync(file)
    } catch (error) {
      // It was never there, or somebody else was faster.
    }
  }

  return { load: load, keep: keep }
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
