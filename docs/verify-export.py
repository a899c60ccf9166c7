#!/usr/bin/env python3
"""Verifies a folder that `nightscreen evidence export` wrote: verify-export.py [FOLDER]. Exit code 0: whole; 1: problems.
Checks the manifests of the chain one by one, each pack by verify-evidence.py beside this file, and that both are the same."""
import hashlib, json, os, subprocess, sys
here = os.path.dirname(os.path.abspath(__file__))
folder = sys.argv[1] if len(sys.argv) > 1 else here
chain, formers, problems, before = {}, {}, [], None

def read(*path):
    with open(os.path.join(folder, *path), 'rb') as file:
        return file.read()

numbers = sorted(int(name[:-5]) for name in os.listdir(os.path.join(folder, 'chain')) if name.endswith('.json'))
for number in numbers:
    data = read('chain', f'{number}.json')
    manifest, chain[number] = json.loads(data), hashlib.sha256(data).hexdigest()
    if manifest['sequence'] != number or (before and manifest['former'] != {'sequence': before, 'sha256': chain.get(before)}):
        problems.append(f'chain/{number}.json does not follow the manifest before it')
    formers[number], before = manifest['former'], number
if not numbers or numbers != list(range(numbers[0], numbers[-1] + 1)):
    problems.append('the chain has a gap, or is empty')
count = 0
for group in sorted(os.listdir(os.path.join(folder, 'packs'))):
    former = formers.get(int(group.split('-')[0]))
    head = [f'{former["sequence"]}:{former["sha256"]}'] if former else []
    checked = subprocess.run([sys.executable, os.path.join(here, 'verify-evidence.py'), os.path.join(folder, 'packs', group), *head])
    if checked.returncode != 0:
        problems.append(f'packs/{group} is not whole')
    for run in os.listdir(os.path.join(folder, 'packs', group)):
        for pack in os.listdir(os.path.join(folder, 'packs', group, run)):
            data = read('packs', group, run, pack, 'manifest.json')
            count += 1
            if chain.get(json.loads(data)['sequence']) != hashlib.sha256(data).hexdigest():
                problems.append(f'packs/{group}/{run}/{pack} is not the pack of the chain')
if count == 0:
    problems.append('there is no pack')
print(*problems, f'{len(problems)} problems; {count} packs; chain from {numbers[:1]} to {numbers[-1:]}', sep='\n')
print(f'The last pack of the chain, to compare with a later report or mail: {before}:{chain.get(before)}')
sys.exit(1 if problems else 0)
