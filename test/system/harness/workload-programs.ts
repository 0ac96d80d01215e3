export const ports = { web: 8001, database: 8002, pattern: 8003 } as const;
/** Rows that the database keeps: each write replaces the oldest, so that it changes for ever and does not grow. */
export const databaseRows = 100;

/** Python, a program a role: `web`, `load N`, `database`, `pattern BLOCKS`. Each that listens answers with JSON. */
export const workloadProgram = `
import contextlib, hashlib, http.client, http.server, json, os, sqlite3, sys, threading, time

def serve(port, answer):
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = 'HTTP/1.1'
        def do_GET(self):
            body = json.dumps({'pid': os.getpid(), **answer(self.path)}).encode()
            self.send_response(200); self.send_header('Content-Length', str(len(body))); self.end_headers(); self.wfile.write(body)
        def log_message(self, *_): pass
    class Server(http.server.ThreadingHTTPServer):
        disable_nagle_algorithm = True
    Handler.disable_nagle_algorithm = True
    return Server(('0.0.0.0', port), Handler)

# Whoever asks /work/K/N is client K with its request N: none may be missing, and none be answered twice.
def web():
    last, wrong = {}, []
    def answer(path):
        what, *numbers = path.split('/')[1:]
        if what == 'work':
            client, n = map(int, numbers)
            if n != last.get(client, 0) + 1: wrong.append([client, last.get(client), n])
            last[client] = n
        return {'served': list(last.values()), 'wrong': wrong}
    serve(${ports.web}, answer).serve_forever()

# One connection for ever: should it break, this ends, and the count stands still.
def load(client):
    connection = http.client.HTTPConnection('127.0.0.1', ${ports.web})
    n = 0
    while True:
        n += 1
        connection.request('GET', f'/work/{client}/{n}')
        connection.getresponse().read()
        time.sleep(0.002)

def body(n):
    return hashlib.sha256(str(n).encode()).hexdigest() * 8

def open_database():
    database = sqlite3.connect('/srv/log.db', isolation_level=None)
    database.execute('pragma journal_mode = wal'); database.execute('pragma synchronous = full')
    return contextlib.closing(database)

def look(acknowledged):
    with open_database() as database:
        first, last, rows = database.execute('select min(n), max(n), count(*) from log').fetchone()
        torn = sum(text != body(n) for n, text in database.execute('select n, body from log'))
        sound = database.execute('pragma quick_check').fetchone()[0]
    return {'acknowledged': acknowledged, 'first': first, 'last': last, 'rows': rows, 'torn': torn, 'sound': sound}

def database():
    acknowledged = [0]
    with open_database() as database:
        database.execute('create table log (slot integer primary key, n integer not null, body text not null)')
        server = serve(${ports.database}, lambda _: look(acknowledged[0]))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        while True:
            n = acknowledged[0] + 1
            database.execute('replace into log values (?, ?, ?)', (n % ${databaseRows}, n, body(n)))
            acknowledged[0] = n

# Random blocks. Each turn they are all read, then one is renewed: whoever asks knows what the next turn must find. In place: blocks that took each other's
# place moved, now and then, from one heap of the C library to another in the course of some hundred turns, and took twice the memory on the way.
def pattern(count):
    blocks = [bytearray(os.urandom(1 << 20)) for _ in range(count)]
    turns = [0]
    def turn(_):
        digests = [hashlib.sha256(block).digest() for block in blocks]
        found = hashlib.sha256(b''.join(digests)).hexdigest()
        turns[0] += 1
        at = turns[0] % count
        blocks[at][:] = os.urandom(1 << 20)
        digests[at] = hashlib.sha256(blocks[at]).digest()
        return {'turn': turns[0], 'found': found, 'left': hashlib.sha256(b''.join(digests)).hexdigest()}
    serve(${ports.pattern}, turn).serve_forever()

role, *arguments = sys.argv[1:]
if role == 'look': print(json.dumps(look(None)))
else: {'web': web, 'load': load, 'database': database, 'pattern': pattern}[role](*map(int, arguments))
`;
