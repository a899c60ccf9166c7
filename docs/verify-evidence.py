#!/usr/bin/env python3
"""Verifies a folder of evidence packs, as docs/evidence.md describes them: verify-evidence.py FOLDER [SEQUENCE:SHA256]
The second argument is a head from an old report. Exit code 0: whole; 1: problems, of each file the first. Needs Python 3.8."""
import base64, hashlib, json, os, re, sys, zlib
OUTCOMES = ['skipped', 'reused', 'screened', 'remaining', 'failed']
RUN, CUSTOMERS, ANSWERS, CHANGES, DISPOSITIONS = NAMES = [
    'run.json', 'customers.jsonl.gz', 'answers.jsonl.gz', 'changes.jsonl.gz', 'dispositions.jsonl.gz']
PARTS = {CUSTOMERS: 'record row search single customer gap'.split(), ANSWERS: 'answer detail'.split(),
         CHANGES: 'change event dossierChange discrepancyEvent'.split(),
         DISPOSITIONS: 'disposition acceptance report erased'.split()}
problems, FIELDS = [], {*'schema organisation sequence run pack ending former createdAt version files signer'.split()}
to_head = lambda place: f'{place["sequence"]}:{place["sha256"]}' if place else '0'

def need(holds, what):
    if not holds:
        raise ValueError(what)

def attempt(where, check, *values):
    try:
        return check(*values)
    except Exception as error:  # of any kind: a damaged file may break every assumption
        problems.append(f'{where}: {error!r}')

def read(*path):
    with open(os.path.join(*path), 'rb') as file:
        return file.read()

class Pack:
    def __init__(self, folder, path):
        self.path, self.folder, self.bytes = path, os.path.join(folder, path), read(folder, path, 'manifest.json')
        self.sha256, self.manifest = hashlib.sha256(self.bytes).hexdigest(), json.loads(self.bytes)
        need(FIELDS == {*self.manifest}, 'the fields are not those of a manifest')
        need(self.manifest['schema'] == 'nightscreen/evidence-manifest/1', 'the schema is another one')
        self.sequence, self.organisation = int(self.manifest['sequence']), self.manifest['organisation']
        self.numbers, self.counts = {'record': set(), 'answer': set()}, dict.fromkeys(OUTCOMES, 0)
        self.searches, self.unaccepted = {}, {}

def read_lines(path, found):
    stream, rest = zlib.decompressobj(31), b''
    with open(path, 'rb') as file:
        while block := file.read(1 << 18):
            plain = stream.decompress(block)
            found['disk'].update(block)
            found['plain'].update(plain)
            found['bytes'] += len(plain)
            *lines, rest = (rest + plain).split(b'\n')
            for line in lines:
                found['lines'] += 1
                yield line
    need(stream.eof and not rest and not stream.unused_data, 'the content is cut, or bytes follow it')

def refer(kind, number, sequence, pack, chain):
    need(0 < sequence <= pack.sequence, f'the line refers to pack {sequence}')
    other = pack if sequence == pack.sequence else chain.get(sequence)
    need(other is None or number in other.numbers[kind], f'{kind} {number} is not in pack {sequence}')

def check_customer(line, pack, chain):
    refer('record', (line['customer'], line['record'][0]), line['record'][1], pack, chain)
    for party in line['parties']:
        outcome, request, answer = party['outcome'], party['request'], party.get('answer')
        need(outcome != 'reused' or answer, 'a reused party has no answer')
        is_searched = outcome == 'failed' and not answer and party.get('because') not in ('control_failed', 'not_confirmed')
        need(not is_searched or request in pack.searches, f'no search shows the failure of request {request}')
        need(outcome != 'screened' or pack.searches.get(request), f'no search shows the answer to request {request}')
        if answer:
            refer('answer', (answer[0],), answer[1], pack, chain)
    pack.counts[max((party['outcome'] for party in line['parties']), key=OUTCOMES.index, default='skipped')] += 1

def check_line(name, line, pack, chain):
    part, key = [(part, key) for part, key in enumerate(PARTS[name]) if key in line][-1]
    need('sealed' not in line or len(base64.b64decode(line['sealed'], validate=True)) > 27, 'the sealed text is too short')
    if key == 'customer':
        check_customer(line, pack, chain)
    pack.searches[line.get('search')] = 'answer' in line
    if key in ('search', 'single') and 'answer' in line:
        refer('answer', (line['answer'][0],), line['answer'][1], pack, chain)
    if key == 'gap' and 'customer' not in line:
        need('sealed' in line, 'the gap names nobody')
        pack.unaccepted[line['reason']] = pack.unaccepted.get(line['reason'], 0) + 1
    number = tuple(line[key]) if isinstance(line[key], list) else (line[key],)
    pack.numbers.get(key, set()).add(number)
    return part, *number

def check_file(listed, pack, chain):
    name, last, found = listed['name'], (-1,), dict(disk=hashlib.sha256(), plain=hashlib.sha256(), bytes=0, lines=0)
    try:
        if name == RUN:
            data = read(pack.folder, name)
            found.update(disk=hashlib.sha256(data), plain=hashlib.sha256(data), bytes=len(data), lines=data.count(b'\n'))
        else:
            for text in read_lines(os.path.join(pack.folder, name), found):
                number = check_line(name, json.loads(text.decode()), pack, chain)
                need(last < number, 'the line is not in order, or is there twice')
                last = number
        content = {'name': name, 'bytes': found['bytes'], 'lines': found['lines'], 'sha256': found['plain'].hexdigest()}
        need(listed == content, f'the content has {content}, and the manifest says {listed}')
        return found['disk'].hexdigest()
    except Exception as error:
        problems.append(f'{pack.path}/{name}, line {found["lines"]}: {error!r}')

def check_counts(pack):
    run = json.loads(read(pack.folder, RUN))
    need(run.get('unaccepted', {}) == pack.unaccepted, f'unaccepted is not {pack.unaccepted}, as the gaps say')
    total, skipped = (sum(pack.unaccepted.values(), inside) for inside in (sum(pack.counts.values()), pack.counts['skipped']))
    for key, sum_ in dict(pack.counts, inScope=total, skipped=skipped, planned=total - skipped).items():
        need(run['counts'] is None or run['counts'][key] == sum_, f'{key} in run.json is not {sum_}, as the lines say')

def check_pack(pack, chain):
    listed = {file['name']: file for file in pack.manifest['files']}
    need(pack.path == f'{pack.manifest["run"]}/{pack.manifest["pack"]}', 'the manifest belongs to another folder')
    need(RUN in listed and [*listed] == [name for name in NAMES if name in listed], 'the files are not in order')
    digests = {name: check_file(listed[name], pack, chain) for name in sorted(listed)}
    names = [*listed, 'manifest.json'] + (['manifest.sig'] if pack.manifest['signer'] else [])
    need({*names, 'SHA256SUMS'} == set(os.listdir(pack.folder)), 'a file is missing, or one is too many')
    need(not any(os.path.islink(os.path.join(pack.folder, name)) for name in names), 'a file is a link')
    if None not in digests.values():
        check_counts(pack)
        get = lambda name: digests.get(name) or hashlib.sha256(read(pack.folder, name)).hexdigest()
        sums = ''.join(f'{get(name)}  {name}\n' for name in names)
        need(sums.encode() == read(pack.folder, 'SHA256SUMS'), 'SHA256SUMS differs from the files')

def check_chain(packs, head):
    chain, before, heads = {}, None, []
    for pack in sorted(packs, key=lambda pack: pack.sequence):
        former = to_head(pack.manifest['former'])
        heads = heads or [head if former == head else '0']
        follows = former == heads[-1] and pack.sequence == int(former.split(':')[0]) + 1
        attempt(pack.path, need, follows, f'the former pack is not {heads[-1]}: packs are missing or changed')
        attempt(pack.path, need, pack.organisation == packs[0].organisation, f'another organisation: {pack.organisation}')
        attempt(pack.path, need, pack.manifest['signer'] or not (before and before.manifest['signer']), 'it is not signed')
        attempt(pack.path, check_pack, pack, chain)
        chain[pack.sequence] = before = pack
        heads.append(f'{pack.sequence}:{pack.sha256}')
    attempt('chain', need, chain and head in [None, *heads], f'the head {head} is not there: cut, rebuilt, or no pack')
    return f'{len(problems)} problems; {len(packs)} packs from {heads[1:2]} to {heads[-1:]}; signatures are not checked'

def main(folder, head=None):
    runs = [run for run in os.listdir(folder) if not re.fullmatch(r'\.\d+-\d+\.[0-9a-f]{12}\.tmp', run)]
    paths = [f'{run}/{pack}' for run in runs for pack in attempt(run, os.listdir, os.path.join(folder, run)) or []]
    packs = [pack for pack in (attempt(path, Pack, folder, path) for path in sorted(paths)) if pack]
    print(check_chain(packs, head), *problems, sep='\n')
    return 1 if problems else 0

sys.exit(main(*sys.argv[1:]))
