const firstNames =
  'Anna Bertil Carla Dmitri Elif Farouk Greta Hassan Ingrid Jonas Katya Liam Mei Noor Oskar Priya Quentin Rosa Søren Tamsin Ulrich Vera Wilhelmina Ximena Yusuf Zoë';
const lastNames =
  'Achterberg Brandt Castellanos Dubois Eriksson Fernández Grönlund Haddad Ivanova Jørgensen Kvarnström Lindqvist Malvestuto Ngata Oyelaran Prunescu Quispe Rasmussen Sokolov Takahashi';
const syllables = 'ba ke li mo nu ra se ti vo wa'.split(' ');
const header = 'customer_id,type,name,birth_date,countries,risk_tier,branch,segment,opened_on,account_manager\n';

const pick = (words: readonly string[], number: number): string => words[number % words.length] ?? '';
const two = (number: number): string => String(number).padStart(2, '0');

/** The lines of a roster of ten columns as a bank would export it: persons and firms, some fields empty, some quoted. */
export function* listRosterRows(customers: number): Generator<string> {
  const firsts = firstNames.split(' ');
  const lasts = lastNames.split(' ');
  yield header;
  for (let number = 0; number < customers; number += 1) {
    const word = [...String(number)].map((digit) => pick(syllables, Number(digit))).join('');
    const own = word.charAt(0).toUpperCase() + word.slice(1);
    const isFirm = number % 12 === 0;
    const name = isFirm
      ? `"${own}, Trading & Sons ${pick(['Ltd', 'GmbH', 'AS'], number)}"`
      : `${pick(firsts, number * 7)} ${own} ${pick(lasts, number * 13)}`;
    const birthDate = isFirm ? '' : `${1940 + (number % 65)}-${two(1 + (number % 12))}-${two(1 + (number % 28))}`;
    yield [
      `C${10_000_000 + number}`,
      isFirm ? 'entity' : 'person',
      name,
      birthDate,
      pick(['DK', 'SE', 'DE', 'GB;NG', 'FR'], number),
      pick(['low', 'medium', 'high', ''], number),
      `Branch ${number % 200}`,
      pick(['retail', 'private', 'business'], number),
      `20${two(number % 25)}-${two(1 + (number % 12))}-${two(1 + (number % 28))}`,
      `manager.${number % 900}@bank.example\n`,
    ].join(',');
  }
}
