/** Ninety-nine exports, written down before anything was mended for them; see `makeExport` for the words. */
export const exportSpecs: readonly string[] = `
plain standard headers :: en mixed :: customer_id=id:C- | type=type:person/entity | name=full | birth_date=birth:yyyy-MM-dd | countries=nat:a2 | risk_tier=word:low/medium/high
snake case bank :: en :: cust_id=id:7 | first_nm=first | last_nm=last | birth_dt=birth:yyyy-MM-dd | ctry_cd=nat:a2 | acct_open_dt=date:yyyy-MM-dd | last_upd_ts=stamp
camel case core :: en mixed :: customerNumber=id: | customerType=type:INDIVIDUAL/ORGANISATION | givenName=first | familyName=last | organisationName=org | dateOfBirth=birth:yyyy-MM-dd | countryOfResidence=res:a2 | createdAt=stamp | updatedAt=stamp
prefixed columns :: en :: c_id=id:K | c_first_name=first | c_last_name=last | c_dob=birth:dd/MM/yyyy | c_country=res:en | c_email=email
table name before a dot :: en mixed :: customer.id=id: | customer.kind=type:person/company | customer.full_name=full | customer.birthdate=birth:yyyy-MM-dd | customer.country=nat:a3 | account.opened=date:yyyy-MM-dd
SAP customer master :: de mixed semi windows-1252 :: MANDT=word:100 | KUNNR=id:padded | LAND1=res:a2 | NAME1=name1 | NAME2=name2 | ORT01=city | PSTLZ=number:5 | STRAS=street | KTOKD=type:PRIV/FIRM | ERDAT=date:yyyyMMdd | SPRAS=word:D/E/F
SAP business partner :: de mixed tab :: PARTNER=id:padded | TYPE=type:1/2 | NAME_ORG1=org | NAME_LAST=last | NAME_FIRST=first | BIRTHDT=birth:yyyyMMdd | NATIO=nat:a2 | CRDAT=date:yyyyMMdd | CHDAT=date:yyyyMMdd
Salesforce person accounts :: en :: Id=id:crm | IsDeleted=word:0 | AccountNumber=unique:AC | FirstName=first | LastName=last | PersonBirthdate=birth:yyyy-MM-dd | BillingCountry=res:en | OwnerId=word:0055g000001/0055g000002 | CreatedDate=stamp | LastModifiedDate=stamp
Salesforce mixed accounts :: en mixed :: Account ID=id:crm | Account Name=full | First Name=sparse | Is Person Account=type:1/0 | Birthdate=birth:M/d/yyyy | Billing Country=res:en | Account Owner=someone | Created Date=date:M/d/yyyy
Dynamics contacts :: en quoted :: contactid=id:guid | fullname=full | firstname=first | lastname=last | birthdate=birth:M/d/yyyy | address1_country=res:en | createdon=stamp | modifiedon=stamp | statecode=word:Active/Inactive
HubSpot contacts :: en :: Record ID=id:33 | First Name=first | Last Name=last | Email=email | Date of birth=birth:yyyy-MM-dd | Country/Region=res:en | Create Date=stamp | Contact owner=someone | Lifecycle Stage=word:lead/customer
Zoho accounts :: en companies :: Record Id=id:zcrm_ | Account Name=org | Account Owner=someone | Website=email | Billing Country=res:en | Industry=word:Retail/Shipping/Banking | Created Time=stamp
Odoo partners :: fr mixed :: id=id:__export__.res_partner_ | name=full | is_company=type:False/True | country_id/code=res:a2 | ref=maybe:A1/A2/A3 | create_date=stamp | lang=word:fr_FR/en_US
T24 customer file :: en mixed bar :: CUSTOMER.NO=id:10 | MNEMONIC=upper | SHORT.NAME=full | SECTOR=type:1001/2001 | NATIONALITY=nat:a2 | RESIDENCE=res:a2 | DATE.OF.BIRTH=birth:yyyyMMdd | CUST.SINCE=date:yyyyMMdd
Flexcube customers :: en mixed :: CUSTOMER_NO=id:00 | CUSTOMER_TYPE=type:I/C | CUSTOMER_NAME1=full | SHORT_NAME=upper | COUNTRY=res:a2 | NATIONALITY=nat:a2 | DATE_OF_BIRTH=birth:dd-MM-yyyy | CIF_CREATION_DATE=date:dd-MM-yyyy
Finacle extract :: en mixed bar :: CIF_ID=id:R00 | CUST_TYPE=type:RETAIL/CORPORATE | CUST_FIRST_NAME=first | CUST_MIDDLE_NAME=middle | CUST_LAST_NAME=last | CORP_NAME=org | CUST_DOB=birth:yyyy-MM-dd | NATIONALITY=nat:en | RM_NAME=someone
Mambu clients :: en :: encodedKey=guid | id=id: | firstName=first | middleName=middle | lastName=last | birthDate=birth:yyyy-MM-dd | gender=word:MALE/FEMALE | citizenship=nat:a3 | creationDate=stamp | state=word:ACTIVE/BLACKLISTED
German crm :: de semi windows-1252 crlf :: Kundennummer=id: | Anrede=salutation:Herr/Frau/Firma | Titel=maybe:Dr./Prof. | Vorname=first | Nachname=last | Geburtsdatum=birth:dd.MM.yyyy | Staatsangehörigkeit=nat:a2 | Telefon=phone | E-Mail=email | Kunde seit=date:dd.MM.yyyy
German crm of persons and firms :: de mixed semi :: KdNr=id: | Anrede=salutation:Herr/Frau/Firma | Vorname=first | Name=last | Firma=org | Geb.-Datum=birth:dd.MM.yyyy | Land=res:a2 | Ort=city
German firms :: de companies semi :: Kunden-Nr.=id: | Firmenname=org | Rechtsform=word:GmbH/AG/KG | Land=res:a3 | HRB=unique:HRB | Gründungsdatum=founded:dd.MM.yyyy | Ansprechpartner=contact
DATEV debtors :: de mixed semi windows-1252 quoted :: Konto=id: | Name (Adressattyp Unternehmen)=org | Name (Adressattyp natürl. Person)=last | Vorname (Adressattyp natürl. Person)=first | Adressattyp=type:1/2 | Straße=street | Ort=city | Land=res:a2 | Umsatzsteuer-ID=unique:DE
German insurance :: de semi :: Versicherungsnummer=unique:VS- | Partnernummer=id:P | Name=last | Vorname=first | Geb.Dat.=birth:dd.MM.yyyy | Nationalität=nat:a2 | Antragsdatum=date:dd.MM.yyyy | Beginn=date:dd.MM.yyyy
German savings bank, spelt without umlauts :: de mixed semi :: PERSONENNUMMER=id:0 | PERSONENART=type:NAT/JUR | NACHNAME_FIRMA=name1 | VORNAME=name2 | GEBURTSDATUM=birth:yyyyMMdd | STAATSANGEHOERIGKEIT=nat:a3 | ANLAGEDATUM=date:yyyyMMdd | FILIALE=word:001/002/017
German country names :: de semi :: Kundennr=id: | Vorname=first | Zuname=last | Geburtstag=birth:dd.MM.yyyy | Wohnland=res:de
German full name :: de mixed semi :: Mandantennummer=id: | Vollständiger Name=full | Art=type:natürliche Person/juristische Person | Geburtsdatum=birth:dd.MM.yyyy | Sitzland=res:a2 | Betreuer=someone
French bank :: fr semi windows-1252 :: N° client=id: | Civilité=salutation:M./Mme/Sté | Nom=last | Prénom=first | Date de naissance=birth:dd/MM/yyyy | Lieu de naissance=city | Nationalité=nat:a2 | Pays de résidence=res:a2 | Date d'ouverture=date:dd/MM/yyyy
French mixed :: fr mixed semi :: Identifiant=id:CL | Type de personne=type:Physique/Morale | Nom / Raison sociale=name1 | Prénom=name2 | Né(e) le=birth:dd/MM/yyyy | Pays=res:fr | Conseiller=someone
French companies register :: fr companies :: SIREN=id:8 | Dénomination sociale=org | Forme juridique=word:SARL/SAS | Code APE=word:4711F/6201Z | Pays du siège=res:fr | Date de création=founded:yyyy-MM-dd
French snake :: fr :: id_client=id: | nom_naissance=last | prenoms=first | dt_naissance=birth:yyyy-MM-dd | nationalite=nat:a3 | dt_maj=stamp | code_agence=word:0012/0044
Spanish bank :: es semi windows-1252 :: Nº Cliente=id: | Nombre=first | Apellidos=last | Fecha nacimiento=birth:dd/MM/yyyy | País de residencia=res:es | DNI=unique:X | Fecha alta=date:dd/MM/yyyy
Spanish mixed :: es mixed semi :: CODIGO_CLIENTE=id: | TIPO_PERSONA=type:F/J | NOMBRE_RAZON_SOCIAL=full | FEC_NACIMIENTO=birth:yyyyMMdd | NACIONALIDAD=nat:a2 | GESTOR=someone
Portuguese :: es :: Número de cliente=id: | Nome completo=full | Data de nascimento=birth:dd-MM-yyyy | Nacionalidade=nat:pt | NIF=unique:2 | Data de abertura=date:dd-MM-yyyy
Italian bank :: it mixed semi :: Codice cliente=id: | Tipo soggetto=type:PF/PG | Cognome=last | Nome=first | Ragione sociale=org | Data di nascita=birth:dd/MM/yyyy | Nazione=res:a2 | Codice fiscale=unique:RSS
Italian country names :: it :: ID Cliente=id: | Nominativo=full | Nato il=birth:dd/MM/yyyy | Cittadinanza=nat:it
Danish bank :: nordic mixed semi windows-1252 :: Kundenr=id: | Kundetype=type:Privat/Erhverv | Fornavn=first | Efternavn=last | Virksomhedsnavn=org | Fødselsdato=birth:dd-MM-yyyy | Statsborgerskab=nat:a2 | Oprettet=date:dd-MM-yyyy | Rådgiver=someone
Danish with number of the register :: nordic companies semi :: CVR-nr.=id:3 | Navn=org | Land=res:a2 | Stiftet=founded:dd-MM-yyyy | Branche=word:Fisk/Bygg/Energi
Norwegian :: nordic semi :: Kundenummer=id: | Etternavn=last | Fornavn=first | Mellomnavn=middle | Fødselsdato=birth:dd.MM.yyyy | Nasjonalitet=nat:a2 | Kunde siden=date:dd.MM.yyyy
Swedish :: nordic mixed semi :: Kundnummer=id: | Kundtyp=type:Privatperson/Företag | Namn=full | Födelsedatum=birth:yyyy-MM-dd | Medborgarskap=nat:sv | Skapad=stamp
Swedish companies :: nordic companies semi :: Organisationsnummer=id:55 | Företagsnamn=org | Säte=city | Land=res:a2 | Registrerad=founded:yyyy-MM-dd
Finnish :: nordic semi :: Asiakasnumero=id: | Etunimi=first | Sukunimi=last | Syntymäaika=birth:d.M.yyyy | Kansalaisuus=nat:a2 | Avattu=date:d.M.yyyy
Dutch :: en semi :: Klantnummer=id: | Voornaam=first | Tussenvoegsel=maybe:van/de | Achternaam=last | Geboortedatum=birth:dd-MM-yyyy | Nationaliteit=nat:nl | Klant sinds=date:dd-MM-yyyy
Dutch mixed :: en mixed semi :: Relatienummer=id: | Soort relatie=type:Particulier/Zakelijk | Naam=full | Geb. datum=birth:dd-MM-yyyy | Vestigingsland=res:a2
Polish :: pl mixed semi windows-1250 :: Nr klienta=id: | Typ klienta=type:Osoba fizyczna/Firma | Imię=first | Nazwisko=last | Nazwa firmy=org | Data urodzenia=birth:dd.MM.yyyy | Obywatelstwo=nat:a2 | Data otwarcia=date:dd.MM.yyyy
Czech :: cz semi windows-1250 :: Číslo klienta=id: | Jméno=first | Příjmení=last | Datum narození=birth:d.M.yyyy | Státní příslušnost=nat:a2 | Založeno=date:d.M.yyyy
Hungarian :: hu semi windows-1250 :: Ügyfélszám=id: | Családnév=last | Keresztnév=first | Születési dátum=birth:yyyy.MM.dd | Állampolgárság=nat:a2
Turkish :: tr semi windows-1254 :: Müşteri No=id: | Adı=first | Soyadı=last | Doğum Tarihi=birth:dd.MM.yyyy | Uyruk=nat:a2 | Şube=word:Kadıköy/Beyoğlu
Russian :: ru semi windows-1251 :: Код клиента=id: | Фамилия=last | Имя=first | Дата рождения=birth:dd.MM.yyyy | Гражданство=nat:ru | Телефон=phone
Russian full name :: ru mixed semi :: ID=id: | Наименование=full | Тип=type:ФЛ/ЮЛ | Дата рождения=birth:dd.MM.yyyy | Страна=res:a2 | Менеджер=word:Петров П./Сидорова А.
Greek :: el semi :: Κωδικός πελάτη=id: | Επώνυμο=last | Όνομα=first | Ημερομηνία γέννησης=birth:dd/MM/yyyy | Υπηκοότητα=nat:a2
Chinese :: zh :: 客户编号=id: | 姓名=full:glued | 出生日期=birth:yyyy-MM-dd | 国籍=nat:zh | 开户日期=date:yyyy-MM-dd
Japanese :: ja :: 顧客番号=id: | 氏名=full | 生年月日=birth:yyyy/MM/dd | 国籍=nat:a2 | 登録日=date:yyyy/MM/dd
Arabic :: ar bom :: رقم العميل=id: | الاسم الكامل=full | تاريخ الميلاد=birth:yyyy-MM-dd | الجنسية=nat:a2
American credit union :: en :: Member Number=id: | Member Name=lastfirst | DOB=birth:MM/dd/yyyy | State=word:CA/NY/TX/AL/GA/IN | Zip=number:5 | Citizenship=nat:a2 | Join Date=date:MM/dd/yyyy
American with states beside an empty country :: en :: MBR_NBR=id: | FNAME=first | MI=maybe:A/B/J | LNAME=last | BIRTH_DATE=birth:MM/dd/yyyy | ST=word:CA/DE/MD/IN/CO/AR | SSN4=number:4
British fund register :: en mixed :: Investor Ref=id:INV | Investor Type=type:Individual/Corporate | Investor Name=full | D.O.B.=birth:dd/MM/yyyy | Domicile=res:en | Adviser=someone | Units=amount
British payroll :: en :: Employee No=id:E | Forename=first | Surname=last | Date of Birth=birth:dd/MM/yyyy | Start Date=date:dd/MM/yyyy | Leaving Date=rare:dd/MM/yyyy | Nationality=nat:adjective
last, first in one column :: en :: client_no=id: | client=lastfirst | born=birth:yyyy-MM-dd | nationality=nat:a2
last, first and organisation :: en mixed :: EntityNumber=id: | LastName=last | FirstName=first | Organization=org | PRIMARY_NAME_FULL=sparse | EntityKind=type:Person/Organisation | DOB=birth:yyyy-MM-dd | Citizenship=nat:a2
an almost empty full name :: en :: id=id: | full_name=sparse | surname=last | forenames=first | dob=birth:yyyy-MM-dd | country=res:a2
an agency that leaves one word :: en companies :: Exclusion ID=id:S4 | Name=org | Agency=word:TREAS/HHS/DOD | Country=res:a3 | Active Date=date:MM/dd/yyyy | Record Status=word:Active
an organisation column that only some fill :: en mixed :: ref_no=id: | title=maybe:Mr/Mrs/Dr | first=first | last=last | company=org | category=type:Private/Business | birthday=birth:dd MMM yyyy | country=res:en
several numbers, the id last :: en :: iban=iban | phone=phone | passport_no=unique:P | full name=full | date of birth=birth:yyyy-MM-dd | country code=res:a2 | customer number=id:
the id among unique numbers, none called so :: en :: row=count | kyc_file=unique:F | cid=id: | nm=full | bdate=birth:yyyy-MM-dd | natl=nat:a2
row number first :: de semi :: Lfd. Nr.=count | Kundennummer=id: | Name, Vorname=lastfirst | geb. am=birth:dd.MM.yyyy | Nation=nat:a2
guid beside a business number :: en :: RowGuid=guid | ClientCode=id:CL- | ClientFullName=full | ClientDateOfBirth=birth:yyyy-MM-dd | ClientNationality=nat:a2 | LastReviewDate=date:yyyy-MM-dd
account numbers beside party id :: en mixed :: account_number=unique:4 | party_id=id: | party_type=type:P/E | party_name=full | party_birth_date=birth:yyyy-MM-dd | party_country=res:a2 | product=word:loan/card
three dates, the birth date last :: en :: id=id: | name=full | opened=date:yyyy-MM-dd | modified=stamp | birth=birth:yyyy-MM-dd | country=res:a2
three dates of one form, the birth date unnamed :: en :: id=id: | name=full | date1=date:dd/MM/yyyy | date2=birth:dd/MM/yyyy | date3=date:dd/MM/yyyy | nation=nat:a2
year of birth :: en :: id=id: | name=full | yob=birth:yyyy | country=res:en
two-digit years :: en :: id=id: | name=full | dob=birth:dd/MM/yy | nationality=nat:a2
month names :: en :: id=id: | name=full | dob=birth:dd-MMM-yyyy | nationality=nat:a2
compact dates :: en :: id=id: | name=full | birth_date=birth:yyyyMMdd | nationality=nat:a2 | since=date:yyyyMMdd
American dates without zeros :: en :: id=id: | name=full | dob=birth:M/d/yyyy | nationality=nat:a2
nationalities as adjectives :: en :: id=id: | name=full | dob=birth:yyyy-MM-dd | nationality=nat:adjective | residence=res:en
countries beside currencies and languages :: en :: no=id: | name=full | lang=word:en/de/fr/it | ccy=word:EUR/USD/GBP | ctry=res:a2 | birth_dt=birth:yyyy-MM-dd
several country columns :: en :: id=id: | name=full | country_of_birth=word:GB/IE/FR | nationality=nat:a2 | tax_country=word:GB/US | residence_country=res:a2 | dob=birth:yyyy-MM-dd
related parties beside :: en mixed :: customer_no=id: | customer_name=full | customer_type=type:P/C | dob=birth:yyyy-MM-dd | spouse_name=someone:0.4 | guarantor=someone:0.2 | beneficial_owner=contact | country=res:a2
directors and contacts beside companies :: en companies :: company_no=id:0 | company_name=org | director_1=contact | director_2=contact | contact_person=contact | contact_email=email | country_of_incorporation=res:a2 | incorporated=founded:yyyy-MM-dd
relationship manager first :: en :: relationship_manager=someone | client_id=id: | client_first_name=first | client_last_name=last | client_dob=birth:yyyy-MM-dd | client_country=res:a2
sparse columns :: en mixed :: id=id: | kind=type:P/E | name=full | dob=birth:yyyy-MM-dd | aka=maybe:Bob/Rob | maiden name=sparse | fax=empty | note=text | country=res:a2
notes without blanks :: en rows=200 :: id=id: | remark=note:80 | name=full | dob=birth:yyyy-MM-dd | country=res:a2
long free text :: en :: Customer Ref=id: | Comments=text | Customer Name=full | Date of birth=birth:dd/MM/yyyy | Country of residence=res:en
mojibake names :: de mojibake semi :: Kundennummer=id: | Vorname=first | Nachname=last | Geburtsdatum=birth:dd.MM.yyyy | Land=res:a2
half UTF-8, half windows-1252 :: de half semi :: Kundennummer=id: | Vorname=first | Nachname=last | Geburtsdatum=birth:dd.MM.yyyy | Land=res:a2
no header, typed rows :: en mixed noheader :: id=id:C | type=type:P/E | name=full | birth=birth:yyyy-MM-dd | country=res:a2
no header, first and last name :: de semi noheader :: id=id: | first=first | last=last | birth=birth:dd.MM.yyyy | country=res:a2
no header, opened beside birth :: en noheader tab :: id=id: | name=full | birth=birth:yyyy-MM-dd | opened=date:yyyy-MM-dd | country=res:en
no header, companies :: en companies noheader :: id=id:88 | name=org | country=res:a2 | opened=founded:yyyy-MM-dd
UTF-16 with tabs :: fr utf16 tab :: Code client=id: | Nom complet=full | Date naissance=birth:dd/MM/yyyy | Pays=res:a2
bars and capitals :: en mixed bar :: CUSTNO=id: | CUSTTYPE=type:IND/ORG | CUSTNAME=full | BIRTHDATE=birth:yyyyMMdd | CNTRY=res:a2 | BRANCH=word:001/002
abbreviations :: en :: CIF=id: | FST_NM=first | LST_NM=last | DT_BRTH=birth:yyyy-MM-dd | CNTRY_CD=res:a2 | CRT_DT=date:yyyy-MM-dd
companies with legal entity identifiers :: en companies :: LEI=id:lei | Entity.LegalName=org | Entity.LegalAddress.Country=res:a2 | Registration.InitialRegistrationDate=date:yyyy-MM-dd | Entity.EntityStatus=word:ACTIVE/INACTIVE
company register :: en companies :: CompanyName=org | CompanyNumber=id:0 | CompanyCategory=word:Private Limited Company/Public Limited Company | CompanyStatus=word:Active/Dissolved | CountryOfOrigin=res:en | IncorporationDate=founded:dd/MM/yyyy
payment provider :: en :: customer_uuid=id:guid | billing_name=full | billing_country=res:a2 | date_of_birth=birth:yyyy-MM-dd | total_spend=amount | created=stamp
lower-case typed words in Danish :: nordic mixed :: id=id: | navn=full | art=type:person/selskab | født=birth:yyyy-MM-dd | land=res:da
eight rows only :: en rows=8 :: id=id: | name=full | date_of_birth=birth:yyyy-MM-dd | country=res:a2
claims beside policy holders :: en :: claim_no=unique:CL | holder_id=id:H | holder_surname=last | holder_given_names=first | holder_birthdate=birth:yyyy-MM-dd | holder_nationality=nat:a2 | claimant_name=someone:0.5 | claim_date=date:yyyy-MM-dd
trusts beside their owners :: en companies bar :: trust_ref=id:TR | trust_name=org | settlor=someone | trustee_name=someone | jurisdiction=res:en | settled_on=date:dd/MM/yyyy
broker list, quoted everywhere :: en mixed quoted crlf :: Policy No=unique:POL | Insured Ref=id: | Insured Name=full | Insured Type=type:Natural/Legal | Insured DOB=birth:dd/MM/yyyy | Insured Country=res:en | Broker=word:Marsh/Aon
`
  .trim()
  .split('\n');

/** Three times twenty more, each written down when the guesses had been mended for those before: 16 of each were right at the first look. */
export const laterSpecs: readonly string[] = `
NetSuite customers :: en mixed :: Internal ID=id:9 | Is Person=type:Yes/No | Name=full | Subsidiary=word:UK/EMEA | Primary Contact=contact | Billing Country=res:en | Date Created=date:M/d/yyyy
Shopify customers :: en :: Customer ID=id:66 | First Name=first | Last Name=last | Email=email | Accepts Email Marketing=word:yes/no | Default Address Country Code=res:a2 | Total Spent=amount | Phone=phone
crypto exchange :: en quoted :: user_id=id:guid | kyc_first_name=first | kyc_last_name=last | kyc_dob=birth:yyyy-MM-dd | kyc_country=nat:a3 | wallet_address=guid | signup_at=stamp | kyc_level=word:1/2/3
airline loyalty :: en :: FFP_NO=id:BA | PAX_SURNAME=last | PAX_GIVEN=first | PAX_DOB=birth:yyyy-MM-dd | PAX_NATIONALITY=nat:a3 | TIER=word:BLUE/SILVER/GOLD | ENROL_DATE=date:yyyy-MM-dd
auction house :: en mixed semi :: Bidder=id: | Client type=type:Private/Trade | Surname / Company=name1 | Given name=name2 | Born=birth:dd/MM/yyyy | Country=res:en | Specialist=someone
law firm :: de mixed semi windows-1252 :: Aktenzeichen=unique:AZ | Mandant-Nr.=id: | Mandant=full | Mandantentyp=type:natürlich/juristisch | Geburtsdatum=birth:dd.MM.yyyy | Staatsangehörigkeit=nat:a2 | Sachbearbeiter=someone
Swiss bank :: fr mixed semi :: No CIF=id:0 | Type de partenaire=type:PP/PM | Nom=name1 | Prénom=name2 | Date de naissance=birth:dd.MM.yyyy | Domicile (pays)=res:a2 | Nationalité=nat:a2 | Gérant=someone
Austrian insurance :: de semi :: VSNR=unique:4 | PartnerID=id:P | Familienname=last | Vorname=first | GebDat=birth:dd.MM.yyyy | Staatsbürgerschaft=nat:a3 | PolizzeNr=number:8 | Vertragsbeginn=date:dd.MM.yyyy
Romanian :: cz semi windows-1250 :: Cod client=id: | Nume=last | Prenume=first | Data nasterii=birth:dd.MM.yyyy | Cetatenie=nat:a2 | Agentie=word:Cluj/Arad
Croatian :: cz semi :: Šifra klijenta=id: | Ime=first | Prezime=last | Datum rođenja=birth:dd.MM.yyyy | Državljanstvo=nat:a2 | Datum otvaranja=date:dd.MM.yyyy
Ukrainian :: ru semi windows-1251 :: Код клієнта=id: | Прізвище=last | Імя=first | Дата народження=birth:dd.MM.yyyy | Громадянство=nat:a2 | Відділення=word:Львів/Київ
Korean :: ja :: 고객번호=id: | 이름=full | 생년월일=birth:yyyy-MM-dd | 국적=nat:a2 | 가입일=date:yyyy-MM-dd
Estonian :: nordic semi :: Kliendi kood=id: | Eesnimi=first | Perekonnanimi=last | Sünniaeg=birth:dd.MM.yyyy | Kodakondsus=nat:a2 | Kliendihaldur=someone
Brazilian :: es mixed semi :: COD_CLIENTE=id: | TP_PESSOA=type:F/J | NM_CLIENTE=full | DT_NASCIMENTO=birth:dd/MM/yyyy | CPF_CNPJ=unique:3 | PAIS=res:a2
university alumni :: en tab utf16 :: Student Number=id:S | Title=maybe:Mr/Ms/Dr | Given Name=first | Middle Name=middle | Family Name=last | Birthdate=birth:yyyy-MM-dd | Country of Citizenship=nat:en | Graduation Date=date:yyyy-MM-dd
charity donors :: en mixed :: Constituent ID=id: | Constituent Type=type:Individual/Organization | First=first | Surname=last | Org Name=org | Date of birth=birth:dd/MM/yyyy | Country=res:en | Last Gift Date=date:dd/MM/yyyy
supplier master :: en companies semi :: LIFNR=id:padded | NAME1=org | LAND1=res:a2 | ORT01=city | STCEG=unique:GB | ERDAT=date:yyyyMMdd
real estate buyers, no header :: es noheader semi :: id=id:C | name=full | dni=unique:X | birth=birth:dd/MM/yyyy | nat=nat:a2 | signed=date:dd/MM/yyyy
wealth manager :: en mixed bar :: PortfolioNo=unique:PF | ClientRef=id:CL | ClientLegalName=full | ClientLegalForm=type:Natural Person/Legal Entity | Inception=date:yyyy-MM-dd | ClientBirthOrIncorporationDate=birth:yyyy-MM-dd | TaxDomicile=res:a2
telecom, all in capitals without blanks :: en :: CUSTOMERID=id: | FIRSTNAME=first | LASTNAME=last | DATEOFBIRTH=birth:yyyyMMdd | COUNTRYCODE=res:a2 | ACTIVATIONDATE=date:yyyyMMdd | MSISDN=number:11
pension fund :: en tab :: Scheme Ref=word:ABC/DEF | Member Ref=id:M | Title=maybe:Mr/Mrs | Initials=maybe:A.B./C. | Forename(s)=first | Surname=last | D.o.B=birth:dd-MMM-yyyy | Nationality=nat:adjective | Date Joined Scheme=date:dd-MMM-yyyy
letting agent :: en mixed :: Landlord ID=id:L | Landlord Name=full | Individual/Company=type:Individual/Company | DOB=birth:dd/MM/yy | Country of Residence=res:en | Negotiator=someone | Instruction Date=date:dd/MM/yy
German association :: de semi windows-1252 :: Mitgliedsnr.=id: | Nachname=last | Vorname=first | geboren=birth:d.M.yyyy | Staatsang.=nat:de | Eintritt=date:d.M.yyyy | Beitrag=amount
German leasing :: de mixed semi :: LN-Nr=id:4 | LN_Name1=name1 | LN_Name2=name2 | LN_Rechtsform=type:Privatperson/GmbH | LN_Gebdat=birth:dd.MM.yyyy | LN_Land=res:a2 | Vertragsnr=unique:V | VK-Berater=someone
French notary :: fr semi :: Dossier=unique:D | Réf. client=id: | NOM=last | PRENOM=first | Né le=birth:dd/MM/yyyy | à=city | Nationalité=nat:fr | Clerc=someone
French insurer :: fr mixed semi windows-1252 :: NUM_SOCIETAIRE=id: | CIVILITE=salutation:M/MME/STE | NOM_RS=name1 | PRENOM=name2 | DATE_NAISS=birth:dd/MM/yyyy | CODE_PAYS=res:a2 | DATE_EFFET=date:dd/MM/yyyy
Spanish notary :: es semi :: Expediente=unique:E | Cliente nº=id: | Nombre y apellidos=full | Fecha de nacimiento=birth:d/M/yyyy | Nacionalidad=nat:es | Notario=someone
Italian broker :: it mixed semi :: COD_CLI=id: | TIPO=type:FISICA/GIURIDICA | COGNOME_RAGSOC=name1 | NOME=name2 | DT_NASC=birth:yyyyMMdd | NAZ=res:a2 | SUBAGENTE=someone
Dutch pension :: en semi :: BSN=unique:1 | Deelnemernummer=id: | Voorletters=maybe:A.B./J. | Voornaam=first | Achternaam=last | Geb.dat.=birth:yyyyMMdd | Land=res:nl | Datum in dienst=date:yyyyMMdd
Polish insurer :: pl mixed semi :: PESEL=unique:6 | ID_KLIENTA=id: | RODZAJ=type:FIZ/PRAW | NAZWISKO_NAZWA=name1 | IMIE=name2 | DATA_UR=birth:yyyy-MM-dd | KRAJ=res:pl | AGENT=someone
Swedish bank :: nordic semi :: Kundnr=id: | Förnamn=first | Efternamn=last | Född=birth:yyyyMMdd | Medborgare i=nat:sv | Handläggare=someone | Kund sedan=date:yyyy-MM-dd
Finnish names of countries :: nordic semi :: Asiakas=id: | Nimi=full | Syntynyt=birth:d.M.yyyy | Kotimaa=res:fi | Yhteyshenkilö=someone
Turkish bank :: tr mixed semi :: MUSTERI_NO=id: | MUSTERI_TIPI=type:Bireysel/Kurumsal | UNVAN_AD_SOYAD=full | DOGUM_TARIHI=birth:dd.MM.yyyy | UYRUK=nat:tr | SUBE_KODU=word:101/202
Russian bank :: ru mixed semi windows-1251 :: ИД_КЛИЕНТА=id: | ВИД=type:физ/юр | НАИМЕНОВАНИЕ_ФИО=full | ДАТА_РОЖД=birth:dd.MM.yyyy | СТРАНА_РЕЗ=res:ru
Chinese companies :: zh companies :: 统一社会信用代码=id:91 | 企业名称=org | 注册国家=res:zh | 成立日期=founded:yyyy-MM-dd
fintech events :: en :: event_time=stamp | event_id=guid | uid=id: | given_name=first | family_name=last | date_of_birth=birth:yyyy-MM-dd | residency=res:a2 | device=word:ios/android
marketplace sellers :: en mixed :: sellerId=id:S | sellerType=type:SOLE_TRADER/BUSINESS | legalFirstName=first | legalLastName=last | businessLegalName=org | birthDate=birth:yyyy-MM-dd | registeredCountry=res:a3 | uboName=contact | uboDob=empty
screening vendor :: en mixed quoted :: Case ID=guid | Record Reference=id:R | Entity Category=type:INDIVIDUAL/ORGANISATION | Primary Name=full | Also Known As=maybe:Bobby/Rob | Date Of Birth=birth:dd MMM yyyy | Citizenship Country=nat:a3 | Last Screened=stamp
embassy list, no header :: fr noheader semi :: last=last | first=first | birth=birth:dd/MM/yyyy | nat=nat:fr | id=id:P
sports club with parents :: en :: No.=id: | Player first name=first | Player last name=last | Player DOB=birth:dd/MM/yyyy | Mother's name=someone | Father's name=someone | Nationality=nat:en | Squad=word:U9/U11
gym members :: en :: membership_id=id:G | member=full | birthdate=birth:MM/dd/yyyy | email=email | plan=word:basic/plus | joined=date:MM/dd/yyyy | home_club=city
hospital billing :: en quoted :: MRN=id:7 | PT_LAST=last | PT_FIRST=first | PT_MI=maybe:A/J | PT_DOB=birth:MM/dd/yyyy | ADMIT_DT=date:MM/dd/yyyy | ATTENDING=someone
university staff :: en :: Staff ID=id:U | Surname=last | Forenames=first | DOB=birth:dd/MM/yyyy | Nationality=nat:en | Department=word:Physics/Law/History | Line Manager=someone
commodity traders :: en companies :: Counterparty Code=id:CP | Counterparty Name=org | Incorporated In=res:en | LEI=guid | Account Rep=someone | Onboarded=date:dd/MM/yyyy
shipping agents :: en companies tab :: Agent No=id: | Trading Entity=org | Country=res:a3 | Port=city | Contact=someone
German bank in English :: de mixed semi :: customerNr=id: | personType=type:NATURAL/LEGAL | lastnameOrCompany=name1 | firstname=name2 | birthdate=birth:dd.MM.yyyy | citizenship=nat:a2 | advisor=someone
German tax adviser :: de mixed semi :: Mandant=id: | Bezeichnung=full | Gesellschaftsform=type:Einzelperson/GmbH | Geb.-Dat.=birth:dd.MM.yyyy | Land=res:de | Beginn=date:dd.MM.yyyy
German pension list :: de semi windows-1252 :: Versichertennr.=id: | Familienname=last | Rufname=first | Geb.=birth:ddMMyyyy | Nat.=nat:a3 | Rentenbeginn=date:ddMMyyyy
Belgian bank :: fr mixed semi :: N° Client=id: | Type=type:Physique/Morale | Nom complet=full | Date de naissance=birth:d/MM/yyyy | Nationalité=nat:fr | Pays résidence=res:fr | Agence=city
French shop :: fr :: id_customer=id: | firstname=first | lastname=last | birthday=birth:yyyy-MM-dd | id_default_group=word:1/2/3 | date_add=stamp | iso_code=res:a2
Mexican lender :: es mixed :: No. de cliente=id: | Tipo de persona=type:Física/Moral | Nombre o razón social=full | Fecha de nacimiento=birth:dd/MM/yyyy | País=res:es | RFC=unique:R | Ejecutivo=someone
Portuguese insurer :: es mixed semi :: N.º Cliente=id: | Tipo=type:Singular/Coletivo | Nome=full | Data Nasc.=birth:dd-MM-yyyy | País=res:pt | Mediador=someone
Italian fund :: it mixed semi :: NDG=id: | Natura=type:Persona fisica/Persona giuridica | Intestazione=full | Data nascita=birth:dd/MM/yyyy | Stato=res:it | Promotore=someone
Norwegian companies :: nordic companies semi :: Orgnr=id:9 | Foretaksnavn=org | Daglig leder=someone | Land=res:no | Stiftelsesdato=founded:dd.MM.yyyy
Danish pension :: nordic semi :: Police=unique:P | Medlemsnr=id: | Medlemsnavn=full | Født=birth:dd-MM-yyyy | Statsborgerskab=nat:da | Indmeldt=date:dd-MM-yyyy
Hungarian bank :: hu mixed semi windows-1250 :: Ügyfél azonosító=id: | Típus=type:magán/cég | Név=full | Születési idő=birth:yyyy.MM.dd | Állampolgárság=nat:hu | Referens=someone
Bulgarian :: ru semi :: Клиентски номер=id: | Име=first | Фамилия=last | Дата на раждане=birth:dd.MM.yyyy | Гражданство=nat:bg | Служител=word:Петров/Стоянова
Indonesian :: en :: No Nasabah=id: | Nama Lengkap=full | Tanggal Lahir=birth:dd/MM/yyyy | Kewarganegaraan=nat:a3 | Cabang=city
no header, types in words :: en mixed noheader semi :: id=id: | name=full | type=type:Individual/Company | birth=birth:dd/MM/yyyy | country=res:en | opened=date:dd/MM/yyyy | rm=someone
no header, many numbers :: de noheader bar :: id=id:K | phone=phone | name=full | iban=iban | birth=birth:yyyy-MM-dd | country=res:a3 | amount=amount
`
  .trim()
  .split('\n');
