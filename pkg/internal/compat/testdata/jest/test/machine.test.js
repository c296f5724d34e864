const child = require('node:child_process');
const { once } = require('node:events');
const dns = require('node:dns');
const fs = require('node:fs');
const http = require('node:http');
const os = require('node:os');
const path = require('node:path');
const threads = require('node:worker_threads');

const text = (stream) => new Promise((resolve) => { let all = ''; stream.on('data', (b) => { all += b; }).on('end', () => resolve(all)); });
const temporary = () => fs.mkdtempSync(path.join(os.tmpdir(), 'compat-'));
const get = (options) => new Promise((resolve, reject) => { http.get(options, (r) => resolve(text(r))).on('error', reject); });
const listen = (server, where) => new Promise((resolve, reject) => { server.on('error', reject).listen(where, resolve); });

describe('processes', () => {
  it('runs a program', () => expect(child.execFileSync('node', ['-p', '6*7'], { encoding: 'utf8' })).toBe('42\n'));
  it('runs a shell', () => expect(child.execSync('echo $((6*7)) | cat', { encoding: 'utf8' })).toBe('42\n'));
  it('talks to a fork', async () => {
    const file = path.join(temporary(), 'fork.cjs');
    fs.writeFileSync(file, "process.on('message', (m) => process.send(m + 1, () => process.disconnect()))");
    const other = child.fork(file, { execArgv: [] });
    other.send(41);
    expect((await once(other, 'message'))[0]).toBe(42);
  });
  it('ends one by a signal', async () => {
    const other = child.spawn('sleep', ['60']);
    other.kill('SIGTERM');
    expect((await once(other, 'exit'))[1]).toBe('SIGTERM');
  });
  it('runs a thread', async () => {
    const worker = new threads.Worker("require('worker_threads').parentPort.postMessage(42)", { eval: true });
    expect((await once(worker, 'message'))[0]).toBe(42);
  });
  it('knows the user and the machine', () => {
    expect(os.userInfo().uid).toBe(process.getuid());
    expect(os.cpus().length).toBeGreaterThan(0);
    expect(os.hostname()).not.toBe('');
  });
});

describe('files', () => {
  it('watches a directory', async () => {
    const dir = temporary();
    const watcher = fs.watch(dir);
    const changed = once(watcher, 'change');
    fs.writeFileSync(path.join(dir, 'a'), 'x');
    expect((await changed)[1]).toBe('a');
    watcher.close();
  });
  it('watches the project', async () => {
    const watcher = fs.watch('.');
    const changed = once(watcher, 'change');
    fs.writeFileSync('watched.tmp', 'x');
    await changed;
    watcher.close();
    fs.rmSync('watched.tmp');
  });
  it('links, renames and removes', () => {
    const dir = temporary();
    fs.writeFileSync(path.join(dir, 'a'), 'x', { mode: 0o640 });
    fs.symlinkSync('a', path.join(dir, 'b'));
    fs.linkSync(path.join(dir, 'a'), path.join(dir, 'c'));
    fs.renameSync(path.join(dir, 'c'), path.join(dir, 'd'));
    fs.chmodSync(path.join(dir, 'd'), 0o755);
    expect(fs.readFileSync(path.join(dir, 'b'), 'utf8')).toBe('x');
    expect(fs.readdirSync(dir)).toEqual(['a', 'b', 'd']);
    fs.rmSync(dir, { recursive: true });
    expect(fs.existsSync(dir)).toBe(false);
  });
  it('copies the project\'s modules', () => {
    const dir = temporary();
    fs.cpSync('node_modules/.bin', dir, { recursive: true, verbatimSymlinks: true });
    expect(fs.readdirSync(dir).length).toBeGreaterThan(1);
  });
});

describe('network', () => {
  it('serves on 127.0.0.1', async () => {
    const server = http.createServer((_, r) => r.end('hello'));
    await listen(server, { port: 0, host: '127.0.0.1' });
    expect(await get({ port: server.address().port, host: '127.0.0.1' })).toBe('hello');
    server.close();
  });
  it('serves on localhost', async () => {
    const server = http.createServer((_, r) => r.end('hello'));
    await listen(server, { port: 0, host: 'localhost' });
    expect(await get({ port: server.address().port, host: 'localhost' })).toBe('hello');
    server.close();
  });
  it('serves on every address', async () => {
    const server = http.createServer((_, r) => r.end('hello'));
    await listen(server, { port: 0 });
    expect(await get({ port: server.address().port, host: '127.0.0.1' })).toBe('hello');
    server.close();
  });
  it('serves on a Unix socket', async () => {
    const at = path.join(temporary(), 's');
    const server = http.createServer((_, r) => r.end('hello'));
    await listen(server, { path: at });
    expect(await get({ socketPath: at })).toBe('hello');
    server.close();
  });
  it('resolves its own name', async () => {
    expect((await dns.promises.lookup(os.hostname())).address).not.toBe('');
  });
});

describe('the runner', () => {
  it('compares with a snapshot', () => expect({ a: 1, b: [2, 3] }).toMatchSnapshot());
  it.skip('skips', () => {});
});
