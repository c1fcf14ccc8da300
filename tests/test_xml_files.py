"""Files that other programs wrote, each with what there is in it to be read.

What is expected was worked out from the files themselves: units and languages counted, segments
looked up, what is wrong with them found by eye.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from lxml import etree

from diglot import FormatError, TranslationMemoryEntry, formats

FILES = Path(__file__).parents[2] / "shared" / "corpus" / "files"

pytestmark = pytest.mark.skipif(
    not FILES.is_dir(), reason="needs the files of other programs in ../shared/corpus/files"
)


@dataclass
class Expected:
    """What a file holds.

    Attributes:
        pairs: How many entries there are in each pair of languages.
        skipped: How often something is left out for each reason.
        places: Lines and units of the first things left out.
        spots: Position among the entries, source, target, and the markup of both.
    """

    pairs: dict[tuple[str, str | None], int]
    skipped: dict[str, int] = field(default_factory=dict)
    places: list[tuple[int, str | None]] = field(default_factory=list)
    spots: list[tuple[int, str, str, str | None, str | None]] = field(default_factory=list)


TMX = {
    # A default namespace, no version; elements of a namespace of its own in the texts; ids in `id`.
    "84000__data-translation-memory__toh590-v3.tmx": Expected(
        {("bo", "en"): 165},
        {"empty_text": 1},
        [(11, "UT22084-090-034-TU-1")],
        [
            (
                1,
                "དཀོན་མཆོག་གསུམ་ལ་ཕྱག་འཚལ་ལོ། །སངས་རྒྱས་དང་བྱང་ཆུབ་སེམས་དཔའ་ཐམས་ཅད་ལ་ཕྱག་འཚལ་ལོ།",
                "\n                    Homage to the Three Jewels! Homage to all buddhas and "
                "bodhisattvas!\n",
                None,
                '\n                    <ph>&lt;tei:milestone xml:id="UT22084-090-034-55"/&gt;</ph>'
                "Homage to the Three Jewels! Homage to all buddhas and bodhisattvas!\n",
            ),
            (
                64,
                "།རྡོ་རྗེ་མཆུ་ཅན་རྣམ་སྒག་མ།",
                "She is Aparājitā and Mālā.\n"
                "                     “She is the alluring Vajratuṇḍī.\n",
                None,
                'She is Aparājitā and Mālā.<ph>&lt;tei:note xml:id="UT22084-090-034-86"/&gt;</ph>\n'
                "                    "
                '<ph>&lt;tei:milestone xml:id="UT22084-090-034-87"/&gt;</ph> “She is the alluring'
                '<ph>&lt;tei:note xml:id="UT22084-090-034-88"/&gt;</ph> Vajratuṇḍī.\n',
            ),
            (
                164,
                "འཕགས་པ་དེ་བཞིན་གཤེགས་པ་ཐམས་ཅད་ཀྱི་གཙུག་ཏོར་ནས་བྱུང་བ་"
                "གདུགས་དཀར་པོ་ཅན་ཞེས་བྱ་བ་གཞན་གྱིས་མི་ཐུབ་མ་ཕྱིར་ཟློག་པ་རིག་སྔགས་ཀྱི་རྒྱལ་མོ་ཆེན་མོ་རྫོགས་སོ།། །།",
                "\n                    Thus concludes the noble invincible great queen of spells "
                "for averting called “Sitātapatrā Born from the Uṣṇīṣa of All Tathāgatas.”",
                None,
                '\n                    <ph>&lt;tei:milestone xml:id="UT22084-090-034-167"/&gt;</ph>'
                "Thus concludes the noble invincible great queen of spells for averting called "
                "“Sitātapatrā Born from the Uṣṇīṣa of All Tathāgatas.”",
            ),
        ],
    ),
    "Softcatala__translation-memory-tools__source-pos__mozilla__ca.focus-for-android.tmx": Expected(
        {("en-US", "ca"): 329},
        spots=[
            (2, "%1$d/%2$d", "%1$d/%2$d", None, None),
            (164, "Navigate forward", "Navega cap endavant", None, None),
            (328, "Your search, your way", "Cerqueu com vulgueu", None, None),
        ],
    ),
    "heartsome__translationstudio8__test__net.heartsome.cat.ts.test__testFiles__ImportTMXTest.tmx": Expected(  # noqa: E501
        {("en-US", "zh-CN"): 314},
        spots=[
            (0, "test modify date", "测'试'修'改'日'期", None, None),
            (
                1,
                "H'e'a'd's'e't' 'w'i't'h' 'e'a'r'p'h'o'n'e's,",
                "带'听'筒'、'线'上'麦'克'风、泡沫''耳垫及衣领夹（仅 SPC505）",
                None,
                r'<bpt i="1" type="font">{\f4 </bpt>带'
                "'听'筒'、'线'上'麦'克'风、泡沫''耳垫及衣领夹（仅"
                r'<ept i="1">}</ept><bpt i="2" type="font">{\f2 </bpt> SPC505<ept i="2">}</ept>'
                r'<bpt i="3" type="font">{\f4 </bpt>）<ept i="3">}</ept>',
            ),
            (
                139,
                "For attaching the WebCam to your (flat panel) PC monitor or laptop screen.",
                "用于将网络摄像头固定到 PC 平板显示器或笔记本电脑的屏幕上。",
                None,
                r'用于将网络摄像头固定到<bpt i="1" type="font">{\f2 </bpt> PC <ept i="1">}</ept>'
                "平板显示器或笔记本电脑的屏幕上。",
            ),
        ],
    ),
    "klew00__okapi__okapi__filters__tmx__src__test__resources__Paragraph_TM.tmx": Expected(
        {("en-us", "de-de"): 7},
        spots=[
            (
                0,
                "1.Confirm that the AC line is in the AC fluid detector.2.Touch Retry.",
                "1.Sicherstellen, dass sich der AK-Schlauch im AK-Flüssigkeitsdetektor befindet."
                "2.'Wiederholen' drücken.",
                r'<ph x="1">#![PG 0 1]</ph>1.<ph x="2">\t</ph>Confirm that the AC line is in the '
                r'AC fluid detector.<ph x="3">\n</ph><ph x="4">\n</ph>2.<ph x="5">\t</ph>'
                "Touch Retry.",
                r'<ph x="1">#![PG 0 1]</ph>1.<ph x="2">\t</ph>Sicherstellen, dass sich der '
                r'AK-Schlauch im AK-Flüssigkeitsdetektor befindet.<ph x="3">\n</ph>'
                r"""<ph x="4">\n</ph>2.<ph x="5">\t</ph>'Wiederholen' drücken.""",
            ),
            (
                1,
                "Touch Retry to resume the procedure.",
                "Zur Fortsetzung des Verfahrens 'Wiederholen' drücken.",
                "Touch Retry to <ut> ut content en</ut>resume the procedure.",
                "Zur Fortsetzung <ut> ut content de</ut>des Verfahrens 'Wiederholen' drücken.",
            ),
            (
                6,
                "Pumps have been paused for 3 minutes. Consider starting a saline drip.",
                "Pumpen wurden 3\xa0Minuten lang angehalten, ggf. NaCl-Infusion starten",
                None,
                None,
            ),
        ],
    ),
    # UTF-16 with a byte order mark. Its header has a property without a type.
    "klew00__okapi__okapi__filters__tmx__src__test__resources__html_test.tmx": Expected(
        {("EN-US", "FR-FR"): 11},
        spots=[
            (0, "start &lt; of &lt; body text", "stXrt &lt; Xf &lt; bXdy tXxt", None, None),
            (
                2,
                "Second paragraph tag",
                "SXcXnd pXrXgrXph tXg",
                'Second <bpt i="1" type="bold">&lt;b&gt;</bpt>paragraph'
                '<ept i="1">&lt;/b&gt;</ept> tag',
                'SXcXnd <bpt i="1" type="bold">&lt;b&gt;</bpt>pXrXgrXph'
                '<ept i="1">&lt;/b&gt;</ept> tXg',
            ),
            # The text between two codes, which belongs to a `sub`-like flow here, stays in.
            (
                10,
                "Alfa beta zeta.",
                "Alfx betx ze\\tx",
                """Alfa <ph type="cb">&lt;img href='img.png' alt='</ph>beta<ph>'/&gt;</ph> zeta.""",
                """Alfx <ph type="cb">&lt;img href='img.png' alt='</ph>betx<ph>'/&gt;</ph> """
                "ze\\tx",
            ),
        ],
    ),
    # The old `lang`; the dates are at the translation.
    "omegat-org__omegat__src__testAcceptance__resources__data__project_CN_JP__omegat__project_save.tmx": Expected(  # noqa: E501
        {("zh-CN", "ja-JP"): 1},
        spots=[(0, "太平寺中的文笔塔", "太平寺の中心的なペン塔", None, None)],
    ),
    "omegat-org__omegat__src__test__resources__data__tmx__TMXComplianceKit__ImportTest1A.tmx": Expected(  # noqa: E501
        {("en-us", "fr-ca"): 2},
        spots=[
            (
                0,
                "First segment with [\t\t   ]",
                "Premier segment avec [\t\t   ]",
                None,
                None,
            ),
            (1, "Second segment with [  \t\t]", "Second segment avec [  \t\t]", None, None),
        ],
    ),
    # The target is in another English.
    "omegat-org__omegat__src__test__resources__data__tmx__TMXComplianceKit__ImportTest1G.tmx": Expected(  # noqa: E501
        {("en-us", "en-gb"): 3},
        spots=[
            (0, "à=agrave, é=eacute, æ=aelig", "à=agrave, é=eacute, æ=aelig", None, None),
            (1, "ÿ=U+00FF, ™=U+2122, ’=U+2019", "ÿ=U+00FF, ™=U+2122, ’=U+2019", None, None),
            (2, "“=U+201C, –=U+2013, ¤=U+00A4", "“=U+201C, –=U+2013, ¤=U+00A4", None, None),
        ],
    ),
    # Units that say their own source language; in the second one it comes last.
    "omegat-org__omegat__src__test__resources__data__tmx__TMXComplianceKit__ImportTest1J_many.tmx": Expected(  # noqa: E501
        {("en-us", "en-gb"): 2, ("es-es", "en-us"): 1},
        spots=[
            (0, "First entry in US English", "First entry in UK English", None, None),
            (1, "Second entry in US English", "Second entry in UK English", None, None),
            (
                2,
                "[not to import] Third entry in Spanish",
                "[not to import] Third entry in US English",
                None,
                None,
            ),
        ],
    ),
    "omegat-org__omegat__src__test__resources__data__tmx__TMXComplianceKit__ImportTest1L.tmx": Expected(  # noqa: E501
        {("en-us", "fr"): 1, ("en-us", "en-gb"): 1},
        spots=[
            (0, "Text of the segment.", "Texte du segment.", None, None),
            (1, "Text of the segment.", "Text of the segment.", None, None),
        ],
    ),
    # Level 2, in UTF-16. `En-uS` is the source language, too, and comes second in the last unit.
    "omegat-org__omegat__src__test__resources__data__tmx__TMXComplianceKit__ImportTest2A.tmx": Expected(  # noqa: E501
        {("en-us", "fr-ca"): 5, ("En-uS", "FR-CA"): 1, ("en-us", "FR-CA"): 1},
        spots=[
            (
                0,
                "The big black cat sleeps.",
                "Le gros chat noir dors.",
                'The big <bpt i="1" x="1" type="bold">&lt;b&gt;</bpt>black'
                '<ept i="1">&lt;/b&gt;</ept> <bpt i="2" x="2" type="ulined">&lt;u&gt;</bpt>cat'
                '<ept i="2">&lt;/u&gt;</ept> sleeps.',
                'Le gros <bpt i="2" x="2" type="ulined">&lt;u&gt;</bpt>chat'
                '<ept i="2">&lt;/u&gt;</ept> <bpt i="1" x="1" type="bold">&lt;b&gt;</bpt>noir'
                '<ept i="1">&lt;/b&gt;</ept> dors.',
            ),
            (
                3,
                "First sentence.",
                "Première phrase.",
                'First <it pos="begin" x="1" type="bold">&lt;b&gt;</it>sentence.',
                'Première <it type="bold" pos="begin" x="1">&lt;b&gt;</it>phrase.',
            ),
            (
                6,
                "Some text with a part highlighted.",
                "Du texte avec une portion délimitée.",
                'Some text with <hi x="1" type="special-part">a part highlighted</hi>.',
                'Du texte avec <hi x="1" type="special-part">une portion délimitée</hi>.',
            ),
        ],
    ),
    "omegat-org__omegat__src__test__resources__data__tmx__en-US_en-GB_fr_sr.tmx": Expected(
        {("en-US", "en-GB"): 1, ("en-US", "fr"): 1, ("en-US", "sr"): 1},
        spots=[
            (0, "XXx", "XXX", None, None),
            (1, "XXx", "YYY", None, None),
            (2, "XXx", "ZZZ", None, None),
        ],
    ),
    # Nothing but codes: there is no text to look up.
    "omegat-org__omegat__src__test__resources__data__tmx__invalid.tmx": Expected(
        {}, {"empty_text": 1}, [(18, None)]
    ),
    "omegat-org__omegat__src__test__resources__data__tmx__test-match-stat-en-ca.tmx": Expected(
        {("en", "ca"): 259},
        spots=[
            (
                0,
                "<b>%{target_username}</b> is now an administrator.",
                "<b>%{target_username}</b> és ara administrador.",
                None,
                None,
            ),
            (
                129,
                "You cannot select a category used in another list.",
                "No podeu triar una categoria emprada en una altra llista.",
                None,
                None,
            ),
            (
                258,
                "is not allowed from that email provider. Please use another email address.",
                "no és permès d'aquest proveïdor de correu. Feu servir una altra adreça de correu.",
                None,
                None,
            ),
        ],
    ),
    # The source language is en: en-GB will do, but be alone will not.
    "omegat-org__omegat__src__test__resources__data__tmx__test-missingSource.tmx": Expected(
        {("en", "be"): 2, ("en", "es"): 1, ("en-GB", "es"): 1, ("en-GB", "be"): 1},
        {"missing_source": 1},
        [(23, None)],
        [
            (0, "entuv", "betuv", None, None),
            (1, "lang2", "lang2z", None, None),
            (4, "lang3", "tr3", None, None),
        ],
    ),
    # Two translations in one language are two entries.
    "omegat-org__omegat__src__test__resources__data__tmx__test-multiple-tuv.tmx": Expected(
        {
            ("EN-US", "ES"): 2,
            ("EN-US", "ES-AR"): 1,
            ("EN-US", "ES-BO"): 1,
            ("EN-US", "FR-CA"): 2,
            ("EN-US", "FR"): 2,
            ("EN-US", "FR-FR"): 1,
            ("EN-US", "DE"): 2,
        },
        spots=[
            (3, "Hello World!", "fr_CA Bonjour le monde\xa0!", None, None),
            (4, "Hello World!", "fr_CA Bonjour tout le monde\xa0!", None, None),
            (10, "This is an english sentence.", "Es una oración en inglés.", None, None),
        ],
    ),
    # Both `en` and `en-US`: the one that is just the source language is the source.
    "omegat-org__omegat__src__test__resources__data__tmx__test-omegat-invalid.tmx": Expected(
        {
            ("en", "be"): 3,
            ("en", "en-US"): 1,
            ("en", "es"): 1,
            ("en-GB", "es"): 1,
            ("en-GB", "be"): 1,
        },
        spots=[
            (1, "First part", "lang1", None, None),
            (2, "First part", "tr1", None, None),
            (6, "lang3", "tr3", None, None),
        ],
    ),
    "rmraya__OpenXLIFF__i18n__OpenXLIFF_Java_es.tmx": Expected(
        {("en", "es"): 519},
        spots=[
            (0, "Wrong XLIFF version", "Versión de XLIFF incorrecta", None, None),
            (259, "Missing sdlxliff file name", "Falta el nombre de archivo sdlxliff", None, None),
            (518, "  File2 unit: {0}", "Unidad de Archivo2: {0}", None, None),
        ],
    ),
    "rmraya__TMXEditor__docs__i18n__tmxeditor_fr.ditamap.xlf.tmx": Expected(
        {("en", "fr"): 487},
        spots=[
            (0, "Editing an Existing File", "Éditer un fichier TMX existant", None, None),
            (
                4,
                "Use the Filter Translation Units option to locate text in the file.",
                "Filtrer les unités de traduction pour effectuer une recherche de texte dans le "
                "fichier.",
                'Use the <ph x="110905">&lt;ph id="ph1"/&gt;</ph>Filter Translation Units'
                '<ph x="110906">&lt;ph id="ph2"/&gt;</ph> option to locate text in the file.',
                '<ph x="110905">&lt;ph id="ph1"/&gt;</ph>Filtrer les unités de traduction'
                '<ph x="110906">&lt;ph id="ph2"/&gt;</ph> pour effectuer une recherche de texte '
                "dans le fichier.",
            ),
            (
                486,
                "Linux (with GNOME Desktop Manager)",
                "Linux (avec le gestionnaire de bureau GNOME)",
                None,
                None,
            ),
        ],
    ),
    # The prefix `t5` is not bound, which does no harm.
    "translate5__translate5__3775b1__small.tmx": Expected(
        {("de-DE", "bg-BG"): 4},
        spots=[
            (
                0,
                "Temperaturklasse, maximale Oberflächentemperatur < 135\xa0°C; 275\xa0°F",
                "Classe di temperatura, temperatura superficiale massima <\xa0135\xa0°C; 275\xa0°F",
                None,
                None,
            ),
            (
                1,
                "**hallo** ",
                "**ola** ",
                '**hallo** <ph>&lt;t5:n id="1" r="04+LSdFWCA12UdEHAA==" n="SOME_TEXT"/&gt;</ph>',
                '**ola** <ph>&lt;t5:n id="1" r="04+LSdFWCA12UdEHAA==" n="OTHER_TEXT"/&gt;</ph>',
            ),
            (
                3,
                "1 ... 10 Temperaturklasse 1 ... 10V",
                "1 ... 10 Classe di temperatura 1 ... 10V",
                None,
                None,
            ),
        ],
    ),
    # The header says de-DE, the units say de.
    "translate5__translate5__application__modules__editor__testcases__Integration__TMX__TmxFilterTest__test.tmx": Expected(  # noqa: E501
        {("de", "en"): 5},
        spots=[
            (
                0,
                "Unser schönes 4 Segment",
                "Our nice 4  segment",
                None,
                'Our nice 4 <ph>&lt;t5:n id="2" r="ZGVmYXVsdCBZLW0tZA==" n="10"/&gt;</ph> segment',
            ),
            (
                2,
                "Unser schönes 4 Segment",
                "Our nice 4  segment 1",
                None,
                'Our nice 4 <ph>&lt;t5:n id="2" r="ZGVmYXVsdCBZLW0tZA==" n="10"/&gt;</ph> '
                "segment 1",
            ),
            (
                4,
                "Unser schönes 4 Segment",
                "Our nice 4  segment",
                None,
                'Our nice 4 <ph>&lt;t5:n id="2" r="ZGVmYXVsdCBZLW0tZA==" n="10"/&gt;</ph> segment',
            ),
        ],
    ),
}

XLIFF = {
    # 119 units, none of them translated; the source of the last one is white space.
    "klew00__okapi__okapi__filters__xliff__src__test__resources__MQ-12-Test01.xlf": Expected(
        {}, {"untranslated": 118, "empty_text": 1}, [(14, "1"), (18, "2")]
    ),
    # All elements have a prefix. Two units have no target, one an element of TYPO3's in its place.
    "klew00__okapi__okapi__filters__xliff__src__test__resources__Typo3Draft.xlf": Expected(
        {("EN", "DE"): 4},
        {"untranslated": 2},
        [(65, "5"), (70, "6")],
        [
            (0, "I am a headline", "Ich bin eine Überschrift", None, None),
            (
                2,
                "This is a sentence with a boldword.",
                "Dies ist ein Satz mit einem fettgedruckten Wort",
                'This is a sentence with a <g id="1" ctype="bold">bold</g>word.',
                'Dies ist ein Satz mit einem <g id="1" ctype="bold">fettgedruckten Wort</g>',
            ),
            # CDATA is text.
            (
                3,
                "This is a sentence with a <b>bold</b>word.",
                "Dies ist ein Satz mit einem <bold>fettgedruckten</bold> Wort.",
                None,
                None,
            ),
        ],
    ),
    # A unit of two segments and what stands between them; three units without a target.
    "oasis-tcs__xliff-xliff-22__xliff-21__test-suite__core__valid__everything-core.xlf": Expected(
        {("en", "fr"): 2},
        {"untranslated": 3},
        [(36, "tu3"), (41, "tu3end"), (51, "tu2")],
        [
            (0, "Sample segment.", "Exemple de segment.", None, None),
            (1, "Segment's content.", "Contenu du segment.", None, None),
        ],
    ),
    # The first unit is not to be translated, though it has targets.
    "oasis-tcs__xliff-xliff-22__xliff-21__test-suite__core__valid__testTranslateWithTarget.xlf": Expected(  # noqa: E501
        {("en", "fr"): 3},
        {"not_translatable": 1},
        [(4, "1")],
        [
            (
                0,
                "t1 t2 ",
                "t1 t2 ",
                't1 <sm id="1" translate="no"/>t2 <sm id="2" translate="yes"/>',
                't1 <sm id="1" translate="no"/>t2 <sm id="2" translate="yes"/>',
            ),
            (1, "t3 t4 ", "t3 t4 ", 't3 <em startRef="2"/>t4 ', 't3 <em startRef="2"/>t4 '),
            (2, "t5", "t5", '<em startRef="1"/>t5', '<em startRef="1"/>t5'),
        ],
    ),
    # Nine segments, of which two have text.
    "oasis-tcs__xliff-xliff-22__xliff-21__test-suite__core__valid__withReorderedCodes.xlf": Expected(  # noqa: E501
        {("en", "fr"): 2},
        {"empty_text": 7},
        [(43, "3"), (54, "3"), (62, "3"), (75, "4")],
        [
            (
                0,
                "\n\t \n\t  text\n\t  \n\t \n\t \n    ",
                "\n\t \n\t \n\t  text\n\t  \n\t \n\t",
                '\n\t <pc id="1" canReorder="firstNo" canDelete="no" canCopy="no">\n\t  text\n\t  '
                '<ph id="2" canReorder="no" canDelete="no" canCopy="no"/>\n\t </pc>\n\t '
                '<ph id="3"/>\n    ',
                '\n\t <ph id="3"/>\n\t <pc id="1" canReorder="firstNo" canDelete="no" '
                'canCopy="no">\n\t  text\n\t  '
                '<ph id="2" canReorder="no" canDelete="no" canCopy="no"/>\n\t </pc>\n\t',
            ),
            (
                1,
                "\n\t \n\t  text\n\t  \n\t \n\t \n    ",
                "\n\t \n\t  text\n\t  \n\t \n\t",
                '\n\t <pc id="1" canReorder="firstNo" canDelete="no" canCopy="no">\n\t  text\n\t  '
                '<ph id="2" canReorder="no" canDelete="no" canCopy="no"/>\n\t </pc>\n\t '
                '<ph id="3"/>\n    ',
                '\n\t <pc id="1" canReorder="firstNo" canDelete="no" canCopy="no">\n\t  '
                '<mrk id="m1" type="term">text</mrk>\n\t  '
                '<ph id="2" canReorder="no" canDelete="no" canCopy="no"/>\n\t </pc>\n\t',
            ),
        ],
    ),
    "oasis-tcs__xliff-xliff-22__xliff-22__test-suite__core__invalid__bad_DataIdNotUnique.xlf": Expected(  # noqa: E501
        {}, {"untranslated": 1}, [(9, "1")]
    ),
    # Its only unit has a backspace in it, which spoils the unit and not the file.
    "omegat-org__omegat__src__test__resources__data__filters__xliff__filters3__file-XLIFFFilter-invalid-content.xlf": Expected(  # noqa: E501
        {}, {"invalid_character": 1}, [(5, None)]
    ),
    # Nine files in one, of which four have units; three units are nothing but a code.
    "omegat-org__omegat__src__test__resources__data__filters__xliff__filters3__file-xliff-BUGS1221.xlf": Expected(  # noqa: E501
        {("de-DE", "en-GB"): 4},
        {"empty_text": 3},
        [(23, "P3E6DCAE8-tu1"), (37, "P3E7BE269-tu1"), (60, "P3E89F9EA-tu1")],
        [
            (0, "ENTWURF", "DRAFT", None, None),
            (2, "/", "/", None, None),
            (3, "ENTWURF", "DRAFT", None, None),
        ],
    ),
    # It does not say what its target language is.
    "omegat-org__omegat__src__test__resources__data__filters__xliff__filters4-xliff2__ex.9.5.xlf": Expected(  # noqa: E501
        {("en", None): 1},
        {"untranslated": 6, "not_translatable": 1},
        [(21, "title-2"), (26, "paragraph-3")],
        [
            (
                0,
                "High Altitude Birds",
                "Oiseaux de haute altitude",
                '<sc id="1" isolated="yes"/>High Altitude Birds',
                '<sc id="1" isolated="yes"/>Oiseaux de haute altitude',
            )
        ],
    ),
    "rmraya__OpenXLIFF__i18n__OpenXLIFF_Java_es.xlf": Expected(
        {("en", "es"): 519},
        spots=[
            (0, "Wrong XLIFF version", "Versión de XLIFF incorrecta", None, None),
            (259, "Missing sdlxliff file name", "Falta el nombre de archivo sdlxliff", None, None),
            (518, "  File2 unit: {0}", "Unidad de Archivo2: {0}", None, None),
        ],
    ),
    "rmraya__TMXEditor__docs__i18n__tmxeditor_fr.ditamap.xlf": Expected(
        {("en", "fr"): 489},
        spots=[
            (0, "Editing an Existing File", "Éditer un fichier TMX existant", None, None),
            (
                5,
                "Click outside the cell or press [Alt+Enter] to save your changes",
                "cliquez en dehors de la cellule ou appuyez sur [Alt+Entrée] pour enregistrer la "
                "modification,",
                'Click outside the cell or press [<ph id="ph0"/>Alt+Enter<ph id="ph1"/>] to save '
                "your changes",
                'cliquez en dehors de la cellule ou appuyez sur [<ph id="ph0"/>Alt+Entrée'
                '<ph id="ph1"/>] pour enregistrer la modification,',
            ),
            (
                488,
                "    Copyright © 2018-2025 Maxprograms ",
                "    Copyright © 2018-2025 Maxprograms ",
                ' <ph id="ph0"/> <ph id="ph1"/> <ph id="ph2"/> <ph id="ph3"/>'
                'Copyright © 2018-2025 Maxprograms<ph id="ph4"/> ',
                ' <ph id="ph0"/> <ph id="ph1"/> <ph id="ph2"/> <ph id="ph3"/>'
                'Copyright © 2018-2025 Maxprograms<ph id="ph4"/> ',
            ),
        ],
    ),
    # HTML in the texts, which is code to XLIFF.
    "translate5__translate5__application__modules__default__locales__de.xliff": Expected(
        {("ha", "de"): 208},
        spots=[
            (0, "GeneralMetatagTitleSuffix", "translate5", None, None),
            (
                52,
                "\n                    Beispielhafter Inhalt einer Zip Datei: \n                ",
                "\n                    Beispielhafter Inhalt einer Zip Datei: \n                ",
                '\n                    <bpt id="1">&lt;b&gt;</bpt>Beispielhafter Inhalt einer Zip '
                'Datei: <ept id="1">&lt;/b&gt;</ept>\n                ',
                '\n                    <bpt id="1">&lt;b&gt;</bpt>Beispielhafter Inhalt einer Zip '
                'Datei: <ept id="1">&lt;/b&gt;</ept>\n                ',
            ),
            (
                207,
                "Das Passwort enthält ein Wort aus der schwarzen Liste.",
                "Das Passwort enthält ein Wort aus der schwarzen Liste.",
                None,
                None,
            ),
        ],
    ),
    # 54 units: 41 are not to be translated, 3 are a code, 10 segments have a target and 2 have
    # none (one in a unit that has another, and a whole unit).
    "translate5__translate5__application__modules__editor__testcases__editorAPI__BasicSegmentEditingTest__export-assert.sdlxliff": Expected(  # noqa: E501
        {("en-US", "de-DE"): 10},
        {"not_translatable": 41, "empty_text": 3, "untranslated": 2},
        [(9, "4df4ef87-a03f-41bb-b876-7ea522b14ca3"), (10, "9ec71da1-7a9a-482a-a998-c62d79634c8e")],
        [
            (
                1,
                "Apache 2.x on Unix systems - Manual",
                "Apache 2.0 auf Unixsystemen - Manual",
                None,
                None,
            ),
            (2, "PHP Manual", "PHP Handbuch", None, None),
            (
                9,
                "Test multiple   Spaces\tand\t\ttabs  in \tdifferent combinations!",
                "Teste mehrere   Leerzeichen\tund\t\tTabulatoren  in \tverschiedenen "
                "Kombinationen!",
                None,
                None,
            ),
        ],
    ),
    # A strict parser gives up at `&para;` in unit 9; what else there is can be read. Texts of
    # `alt-trans` and of `sub` are not part of a unit's text.
    "translate5__translate5__application__modules__editor__testcases__editorAPI__XlfImportTest__testfiles__workfiles__01-ibm-opentm2.xlf": Expected(  # noqa: E501
        {("en-US", "de-DE"): 17},
        {"undefined_entity": 1, "not_translatable": 1, "untranslated": 13, "empty_text": 2},
        [(66, "9"), (73, "10"), (80, "11"), (86, "12")],
        [
            (
                0,
                "Apache 2.x on Unix systems - Manual",
                "Apache 2.0 auf Unixsystemen - Manual",
                None,
                None,
            ),
            (5, "Test different matchinfos", "Teste unterschiedliche matchinfos", None, None),
            (
                9,
                "f2-6 - Test given translations with MRK and sub tags. ",
                "f2-6 - Test mit gegebenen Übersetzungen mit MRK und SUB Tags. ",
                'f2-6 - Test given <ph id="1">&lt;img src="foo" title="'
                '<sub>f2-6 - test sub fragment</sub>"/&gt;</ph>translations with MRK and sub '
                "tags. ",
                'f2-6 - Test mit gegebenen <ph id="1">&lt;img src="foo" title="'
                '<sub>f2-6 - teste sub Fragment</sub>"/&gt;</ph>Übersetzungen mit MRK und SUB '
                "Tags. ",
            ),
        ],
    ),
}

UNREADABLE = {
    "heartsome__translationstudio8__test__net.heartsome.cat.ts.test__testFiles__ImportTMXTest0.tmx": (  # noqa: E501
        1,
        "this is an empty file",
    ),
    "klew00__okapi__okapi__steps__common__src__test__resources__net__sf__okapi__steps__common__codesimplifier__out__test1.xlf": (  # noqa: E501
        1,
        "expected `</g>`, but `</source>` was found",
    ),
}


def split(items: Any) -> tuple[list[TranslationMemoryEntry], list[formats.SkippedUnit]]:
    entries, skipped = [], []
    for item in items:
        (skipped if isinstance(item, formats.SkippedUnit) else entries).append(item)
    return entries, skipped


def markup(entry: TranslationMemoryEntry) -> tuple[str | None, str | None]:
    for key in ("tmx", "xliff", "xliff2"):
        own = (entry.metadata or {}).get(key, {})
        if own:
            return own.get("source"), own.get("target")
    return None, None


def test_every_file_has_an_outcome() -> None:
    files = {path.name for folder in ("tmx", "xliff") for path in (FILES / folder).iterdir()}
    assert files == {*TMX, *XLIFF, *UNREADABLE}


@pytest.mark.parametrize("name", [*TMX, *XLIFF])
def test_what_a_file_holds(name: str) -> None:
    expected = TMX.get(name) or XLIFF[name]
    entries, skipped = split(formats.read(FILES / ("tmx" if name in TMX else "xliff") / name))
    pairs = Counter((entry.source_language, entry.target_language) for entry in entries)
    assert dict(pairs) == expected.pairs
    assert dict(Counter(unit.code for unit in skipped)) == expected.skipped
    places = [(unit.line, unit.unit) for unit in skipped]
    assert places[: len(expected.places)] == expected.places
    for position, source, target, *marked in expected.spots:
        entry = entries[position]
        assert (entry.source, entry.target, *markup(entry)) == (source, target, *marked)


@pytest.mark.parametrize("name", UNREADABLE)
def test_a_file_that_cannot_be_read(name: str) -> None:
    line, message = UNREADABLE[name]
    path = FILES / ("tmx" if name.endswith(".tmx") else "xliff") / name
    with pytest.raises(FormatError, match="line") as caught:
        list(formats.read(path))
    assert caught.value.line == line
    assert message in str(caught.value)


@pytest.mark.parametrize("name", [*TMX, *XLIFF])
def test_written_and_read_again_nothing_is_lost(name: str, tmp_path: Path) -> None:
    folder, form = ("tmx", "tmx") if name in TMX else ("xliff", None)
    reading = formats.read(FILES / folder / name)
    entries, _ = split(reading)
    if form is None:
        second = any("xliff2" in (entry.metadata or {}) for entry in entries)
        form = "xliff2" if second else "xliff"
    path = tmp_path / f"again.{form}"
    assert formats.write(path, entries, format=form) == []
    again, skipped = split(formats.read(path, format=form))
    assert (again, skipped) == (entries, [])


@pytest.mark.parametrize(
    "name",
    [
        name
        for name in TMX
        if name.endswith(("ImportTMXTest.tmx", "1L.tmx", "OpenXLIFF_Java_es.tmx"))
    ],
)
def test_other_programs_find_the_attributes_of_a_unit(name: str, tmp_path: Path) -> None:
    entries, _ = split(formats.read(FILES / "tmx" / name))
    path = tmp_path / "again.tmx"
    formats.write(path, entries)
    # Every translation of a unit is written as a unit, with what the unit says.
    original = [
        (dict(unit.attrib), dict(source.attrib), dict(target.attrib))
        for unit in etree.parse(FILES / "tmx" / name).iter("tu")
        for source, *targets in [unit.findall("tuv")]
        for target in targets
    ]
    written = list(etree.parse(path).iter("tu"))
    assert len(written) == len(original)
    for unit, (attributes, *variants) in zip(written, original, strict=True):
        assert dict(unit.attrib).items() >= attributes.items()
        assert [dict(variant.attrib) for variant in unit.findall("tuv")] == variants


def test_the_parts_of_a_unit_are_kept() -> None:
    name = "omegat-org__omegat__src__test__resources__data__tmx__TMXComplianceKit__ImportTest1L.tmx"
    french, _ = split(formats.read(FILES / "tmx" / name))[0]
    variant = {
        "o-encoding": "iso-8859-1",
        "datatype": "plaintext",
        "usagecount": "100",
        "lastusagedate": "20020523T091200Z",
        "creationtool": "myTool",
        "creationtoolversion": "v10",
        "creationdate": "20020523T091200Z",
        "creationid": "ys",
        "changedate": "20020523T091200Z",
        "o-tmf": "myTM",
        "changeid": "ys",
    }
    prop = ["myPropeType", "Data", "en-us"]
    assert french.to_dict() == {
        "source": "Text of the segment.",
        "target": "Texte du segment.",
        "source_language": "en-us",
        "target_language": "fr",
        "source_id": "tu001",
        "created_at": "2002-05-23T09:12:00Z",
        "notes": "Text of tu note 1\nText of tu note 2",
        "metadata": {
            "changed_at": "2002-05-23T09:12:00Z",
            "tmx": {
                "o-encoding": "iso-8859-1",
                "datatype": "plaintext",
                "usagecount": "100",
                "lastusagedate": "20020523T091200Z",
                "creationtool": "myTool",
                "creationtoolversion": "v10",
                "creationid": "ys",
                "segtype": "block",
                "changeid": "ys",
                "o-tmf": "myTM",
                "notes": [["Text of tu note 1", "en-us"], ["Text of tu note 2", "en-us"]],
                "props": [prop],
                "source_tuv": {
                    **variant,
                    "notes": [["Text of tuv en note 1", "en-us"]] * 2,
                    "props": [prop],
                },
                "target_tuv": {
                    **variant,
                    "notes": [["Text of tuv fr note 1", "en-us"]] * 2,
                    "props": [prop] * 2,
                },
            },
        },
    }
