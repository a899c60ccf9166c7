import { isCompanyName } from './name-lists.js';
import { noWords, splitParties } from './row-parties.js';

const answers = new Set([
  ...noWords,
  ...'yes y ja j oui si sì sí tak ano igen evet да так true false t f x kyllä 是 有 はい いいえ 예 아니오 نعم כן'.split(
    ' ',
  ),
]);

const otherForms = /[@_\\<>{}=]|:\/\/|\d{4}|^\p{N}/u;

/** Whether a text may be a name under a header for names: more than an answer, number, date, code or address. */
export function mayBeName(text: string): boolean {
  const [first = text] = splitParties(text);
  const words = first.split(/\s/).filter((word) => !/[\p{N}@]|:\/\//u.test(word));
  const bare = words.join(' ').trim();
  return /\p{L}\P{N}*\p{L}|^\p{Lo}/u.test(bare) && !/[_\\<>{}=]/.test(bare) && !answers.has(bare.toLowerCase());
}

const caseless = /[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}]/u;
const withoutCase = /^[\p{Lo}\p{Script=Georgian}\p{M}\s.,'’\-־·・]+$/u;
/** Frequent family names, the first sign of a name in China and Korea. */
const familySigns =
  '王李張张刘劉陈陳杨楊黄黃赵趙吴吳周徐孙孫马馬朱胡郭何高林罗羅郑鄭梁谢謝宋唐许許韩韓冯馮邓鄧曹彭曾肖田董袁潘于蒋蔣蔡余杜叶葉程苏蘇魏吕呂丁任沈姚卢盧姜崔钟鍾谭譚陆陸汪范金石廖贾賈夏韦韋付方白邹鄒孟熊秦邱江尹薛闫段雷侯龙龍史陶黎贺賀顾顧毛郝龚龔邵万萬钱錢严嚴김이박최정강조윤장임한오서신권황안송류전홍';
const japanese =
  /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]{1,4}[\s\u3000][\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー]{1,6}$/u;

/** Lower-case words within names. */
const particles = new Set(
  'de da do dos das del della dello di du la le las los e y i van von der den dem des ten ter te zu zur af av of al el ul bin ibn bint ben abu abd d l o och og und and et née nee geb'.split(
    ' ',
  ),
);

/** Words of products, occupations, places and remarks, in lower case. */
const noNames = new Set(
  `account accounts card cards loan loans plan plans savings saving credit debit mortgage premium standard basic gold
  silver platinum classic plus business private banking retail street road avenue lane drive square court place house
  floor park city town village county region district north south east west central upper lower street engineer
  manager assistant officer teacher nurse driver analyst consultant developer designer accountant lawyer student
  retired clerk director executive specialist technician operator worker supervisor coordinator administrator
  representative secretary professor doctor scientist architect editor writer chef sales marketing service services
  customer client new old big small monthly yearly weekly daily high low medium other unknown not none open closed
  active pending approved rejected first second third total online branch department team group general public office
  digital internet mobile international national konto karte kredit kunde kunden privat geschäft straße strasse weg
  platz rue avenue place boulevard calle plaza via viale piazza ulica aleja compte carte livret cuenta tarjeta conto
  carta rachunek konta kort lån gade vej vägen gatan`.split(/\s+/),
);

const casedWord = /^(?:\p{Lu}[\p{L}\p{M}'’ʼ.-]*|\p{Lu}\.)$/u;
const mostNameLength = 120;

/** Whether a text looks like the name of a person or firm, whatever its header says. */
export function looksLikeName(text: string): boolean {
  const [first = text] = splitParties(text);
  if (first.length > mostNameLength || otherForms.test(first) || answers.has(first.toLowerCase())) return false;
  if (isCompanyName(first)) return true;
  if (/\p{N}/u.test(first)) return false;
  if (caseless.test(first)) {
    return japanese.test(first) || (/^[\p{Lo}·]{2,4}$/u.test(first) && familySigns.includes(first.charAt(0)));
  }
  const words = first.split(/[\s,]+/).filter((word) => word !== '');
  const main = words.filter((word) => !particles.has(word));
  if (main.length < 2 || main.length > 5) return false;
  if (withoutCase.test(first)) return true;
  return main.every((word) => casedWord.test(word) && !noNames.has(word.toLowerCase()));
}

/** Whether a text has several words, or signs of a script that does not divide words. */
export const hasSeveralWords = (text: string): boolean => /\p{L}[^\p{L}]+\p{L}/u.test(text) || caseless.test(text);
