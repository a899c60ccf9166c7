/** The parts of the name of a made person or company. */
export interface MadeName {
  first: string;
  middle: string;
  last: string;
  org: string;
}

/** First and last names, what companies of the language are called, and countries, the most frequent first. */
export interface NamePool {
  first: readonly string[];
  last: readonly string[];
  trades: readonly string[];
  forms: readonly string[];
  countries: readonly string[];
}

const pool = (first: string, last: string, trades: string, forms: string, countries: string): NamePool => ({
  first: first.split(' '),
  last: last.split(' '),
  trades: trades.split(' '),
  forms: forms.split('/'),
  countries: countries.split(' '),
});

/** Names by language. */
export const namePools: Readonly<Record<string, NamePool>> = {
  en: pool(
    'Ann Robert Grace Oliver Sian Patrick Niamh George Priya Charlotte Hugh Ivy Owen Ruth Samuel Zoe Chad Jordan Georgia',
    'Lee Ray Hopper Marsh Whitlock Ashdown O’Neill Carver Penhaligon Sethi Bridges Osborne Thackeray Mallory Fenwick Rowe',
    'Shipping Foods Holdings Logistics Software Ceramics Trading Textiles',
    'Ltd/PLC/LLP/Limited/Inc.',
    'gb us ie fr de',
  ),
  de: pool(
    'Jörg Anna Björn Käthe Günther Ursula Jürgen Heike Sören Margarete Lukas Mia Özlem Till Änne Wolfgang',
    'Weiß Müller Ölmann Schäfer Köhler Groß Jäger Bäcker Vogt Lindner Krämer Strauß Pöschl Huber Zöllner Rühle',
    'Baustoffe Maschinenbau Möbel Großhandel Spedition Elektro Gärtnerei Verlag',
    'GmbH/AG/KG/GmbH & Co. KG/e.K.',
    'de at ch fr pl',
  ),
  fr: pool(
    'Hélène Rémi Zoé François Agnès Jérôme Maëlle Benoît Chloé Noël Inès Gaël Océane Théo Lucie Édith',
    'Lefèvre Béranger Garçon Dupré Hébert Moreau LeGoff Fournier Guérin Rousseau Barthélemy Noël Pelletier Crépin',
    'Transports Boulangerie Négoce Assurances Peinture Menuiserie',
    'SARL/SA/SAS/EURL',
    'fr be ch it es',
  ),
  es: pool(
    'José María Íñigo Begoña Álvaro Núria Sofía Ramón Lucía Jesús Inés Martín Belén Óscar Pilar Rubén',
    'García Muñoz Ibáñez Ordóñez Núñez López Peña Vázquez Sáez Gutiérrez Cortés Solís Aragón Campos',
    'Construcciones Alimentación Transportes Inversiones Pinturas',
    'S.L./S.A./S.L.U.',
    'es pt fr it de',
  ),
  it: pool(
    'Niccolò Giosuè Chiara Matteo Lucia Noè Bianca Tommaso Ilaria Dario Elena Marta Paolo Renzo',
    'Rossi Però Bellini Caffarelli Dall’Ara Moretti Zanetti Forlì Cantù Gallo Serra Pisani Conte',
    'Costruzioni Alimentari Trasporti Mobili Tessuti',
    'S.r.l./S.p.A./S.n.c.',
    'it ch fr at es',
  ),
  nordic: pool(
    'Søren Åse Jørgen Birgitta Øyvind Märta Kåre Ingrid Lærke Göran Bjørk Tove Æskil Sigrid Håkan Pia',
    'Sørensen Ångström Østergaard Håkansson Bjørnstad Nygård Lindström Kjær Frøslev Ödman Ræder Holm Skov',
    'Skibsfart Fisk Møbler Bygg Handel Energi',
    'A/S/ApS/AB/ASA',
    'dk se no de gb',
  ),
  pl: pool(
    'Łukasz Małgorzata Zbigniew Agnieszka Paweł Bożena Krzysztof Żaneta Stanisław Ewa Michał Józef',
    'Wiśniewski Dąbrowska Kamiński Łęcka Zieliński Wójcik Mazur Ślusarczyk Żuk Nowak Krawczyk Gołąb',
    'Budowa Transport Meble Odzież Piekarnia',
    'Sp. z o.o./S.A.',
    'pl de ua cz gb',
  ),
  tr: pool(
    'Ayşe Çağla Doğan Gülşah İsmail Ömer Şebnem Tuğçe Ufuk Yıldız Cem Ece',
    'Yıldırım Çelik Öztürk Şahin Güneş Doğru Kılıç Aydın Işık Demir',
    'İnşaat Tekstil Gıda Turizm',
    'A.Ş./Ltd. Şti.',
    'tr de at nl gb',
  ),
  cz: pool(
    'Jiří Zdeněk Božena Tomáš Šárka Ondřej Růžena Václav Eliška Matěj Ľubica Ján',
    'Dvořák Novotná Černý Procházka Kučera Šťastný Říha Žáková Hruška Bureš',
    'Stavby Doprava Potraviny Strojírna',
    's.r.o./a.s.',
    'cz sk de pl at',
  ),
  hu: pool(
    'Ákos Zsófia Győző Ágnes Ödön Erzsébet Béla Tünde Jenő Lívia',
    'Szabó Horváth Kőszegi Tóth Nagy Gödöllői Vörös Petőfi Kiss Fehér',
    'Építő Szállítás Bútor Élelmiszer',
    'Kft./Zrt./Bt.',
    'hu ro at de sk',
  ),
  ru: pool(
    'Иван Ольга Сергей Наталья Дмитрий Елена Юрий Светлана Андрей Мария Фёдор Алла',
    'Иванов Смирнова Кузнецов Попова Соколов Лебедева Козлов Новикова Морозов Щукин',
    'Строй Торг Транс Мебель',
    'ООО/АО/ЗАО',
    'ru by kz ua am',
  ),
  el: pool(
    'Γιώργος Μαρία Νίκος Ελένη Κώστας Άννα Δημήτρης Σοφία Πέτρος Ιωάννα',
    'Παπαδόπουλος Γεωργίου Νικολάου Οικονόμου Βασιλείου Καραγιάννη Μακρής',
    'Τεχνική Εμπορική Ναυτιλία',
    'Α.Ε./Ε.Π.Ε./Ο.Ε.',
    'gr cy de gb it',
  ),
  zh: pool(
    '伟 芳 秀英 敏 静 丽 强 磊 洋 艳 勇 军 杰 娟',
    '王 李 张 刘 陈 杨 黄 赵 周 吴 徐 孙',
    '贸易 科技 建筑 食品',
    '有限公司/股份有限公司',
    'cn hk sg tw us',
  ),
  ja: pool(
    '太郎 花子 健一 美咲 翔 さくら 大輔 由美 拓也 恵子',
    '佐藤 鈴木 高橋 田中 伊藤 渡辺 山本 中村 小林',
    '商事 建設 食品 電機',
    '株式会社/有限会社',
    'jp us kr cn gb',
  ),
  ar: pool(
    'محمد فاطمة أحمد خالد ليلى يوسف سارة عمر هدى حسن',
    'البستاني الخوري منصور العلي حداد الشامي الفارسي ناصر',
    'للتجارة للمقاولات للنقل',
    'ش.م.م/ذ.م.م',
    'lb sy eg jo ae',
  ),
};
