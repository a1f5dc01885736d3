"""Invented CoNLL texts for tests, and how to read them."""

import io

from tanglewood.treebank import conllu

RICH = """\
# newdoc id = garden
# sent_id = moss-1
# text = Let's water the old pear tree .
0.1\tnow\tnow\tADV\t_\t_\t_\t_\t1:advmod\t_
1-2\tLet's\t_\t_\t_\t_\t_\t_\t_\t_
1\tLet\tlet\tVERB\tVB\tMood=Imp\t0\troot\t0:root\t_
2\t's\twe\tPRON\tPRP\tCase=Acc\t3\tnsubj\t3:nsubj\t_
2.1\tplease\tplease\tINTJ\t_\t_\t_\t_\t3:discourse\t_
2.2\tthen\tthen\tADV\t_\t_\t_\t_\t3:advmod\t_
3\twater\twater\tVERB\tVB\t_\t1\tccomp\t1:ccomp\tGloss=a b
4\tthe\tthe\tDET\tDT\t_\t6\tdet\t6:det\t_
5\told\told\tADJ\tJJ\t_\t6\tamod\t6:amod\t_
6\tpear tree\tpear tree\tNOUN\tNN\t_\t3\tobj\t3:obj\tSpaceAfter=No
7\t.\t.\tPUNCT\t.\t_\t1\tpunct\t1:punct\t_

# sent_id = moss-2
1\tRain\train\tNOUN\tNN\t_\t0\troot\t_\t_
2\t!\t!\tPUNCT\t.\t_\t0\tpunct\t_\t_

"""

PLAIN = """\
1\tOwls\towl\tN\tNNS\tnum=pl\t2\tSBJ\t2\tSBJ
2\tsleep\tsleep\tV\tVB\t_\t0\tROOT\t_\t_
3\tlate\tlate\tA\tRB\t_\t2\tADV\t2\t_

"""


def parse(text, **options):
    return list(conllu.read(io.BytesIO(text if isinstance(text, bytes) else text.encode()), **options))


def rewritten(data):
    out = io.BytesIO()
    conllu.write(conllu.read(io.BytesIO(data)), out)
    return out.getvalue()


def row(number, head="0", label="dep"):
    return f"{number}\tw\tw\tX\t_\t_\t{head}\t{label}\t_\t_"


def block(*lines):
    return "\n".join(lines) + "\n\n"


class Pipe(io.RawIOBase):
    """A stream that can be read once and neither rewound nor peeked into."""

    def __init__(self, data):
        self.data = io.BytesIO(data)

    def readable(self):
        return True

    def readinto(self, buffer):
        return self.data.readinto(buffer)
