"""Pages of the site for the API of C, C++, Fortran and Python, as reStructuredText, from the sources."""
import ast
import pathlib
import re
import subprocess
import tempfile
import xml.etree.ElementTree as xml


def escaped(text):
    return re.sub(r"([\\*`_|])", r"\\\1", text)


def described(text, indent="   "):
    """A comment as reStructuredText: lines `name   meaning` become a list of definitions, indented lines code."""
    result = []
    for part in re.split(r"\n\s*\n", text.strip("\n")):
        kind = ""
        for line in part.splitlines():
            row = re.match(r"(\S(?:.{0,38}?\S)?)(?:   *| +(?=out: |in: ))(\S.*)$", line)
            code = re.match(r"  +\S", line) and kind in ("", "code")
            if code:
                result += ([] if kind else ["::", ""]) + ["   " + line.strip("\n")]
                kind = "code"
            elif row and not line.startswith(("- ", " ")) and kind in ("", "rows"):
                result += [escaped(row[1]), "   " + escaped(row[2])]
                kind = "rows"
            elif kind == "rows" and line.startswith(" "):
                result.append("   " + escaped(line.strip()))
            else:
                if kind != "text" or line.startswith("- "):
                    result.append("")
                result.append(("  " if kind == "text" and re.match(r"  \S", line) else "") + escaped(line.strip()))
                kind = "text"
        result.append("")
    return "\n".join((indent + line).rstrip() for line in result) + "\n"


def page(title, introduction, directives):
    return f"{title}\n{'=' * len(title)}\n\n{introduction}\n\n" + "\n".join(directives)


def directive(kind, signatures, text):
    name = f".. {kind}:: "
    return name + ("\n" + " " * len(name)).join(" ".join(s.split()) for s in signatures) + "\n\n" + text


def c_page(header):
    """A comment holds for all declarations below it up to an empty line or to the next comment."""
    text = header.read_text().split('extern "C" {\n#endif\n')[1].split("#ifdef __cplusplus")[0]
    first = re.match(r"/\*(.*?)\*/", header.read_text(), re.S)[1]
    plain = lambda comment: re.sub(r"\n \*(?: |(?=\n|$))", "\n", comment.strip()).strip()
    parts = []
    for comment, declarations in re.findall(r"^(?:/\*((?:(?!\*/)[\s\S])*)\*/\n)?((?:(?!/\*)[^\n]+\n)+)", text, re.M):
        comment = described(plain(comment)) if comment else ""
        members = [re.match(r" *(.*?),?;? *(?:/\* (.*) \*/)?$", line).groups()
                   for line in declarations.splitlines()[1:-1]]
        if declarations.startswith("enum"):
            parts += [directive("c:macro", [name.split()[0]],
                                f"   {name.split()[-1]}{': ' + escaped(meaning) if meaning else ''}\n")
                      for name, meaning in members]
            continue
        for name, body in re.findall(r"typedef struct (\w+) \{([^}]*)\}", declarations):
            inner = [directive("c:member", [member], f"   {escaped(meaning or '')}\n")
                     for member, meaning in members if member]
            inner = [re.sub("^(?=.)", "   ", one, flags=re.M) for one in inner if "}" not in one.split("\n")[0]]
            parts.append(directive("c:struct", [name], comment + "\n" + "\n".join(inner)))
            comment = ""
        types = re.findall(r"typedef struct \w+\* (\w+);", declarations)
        functions = re.findall(r"^((?:int|double|void|const char\*) commpass_\w+\([^;]*\));", declarations, re.M)
        if types:
            parts.append(directive("c:type", types, "" if functions else comment))
        if functions:
            parts.append(directive("c:function", functions, comment))
    return page("C", "From ``#include <commpass/commpass.h>``; :doc:`/docs/c` shows how it is used.\n\n"
                + described(plain(first), ""), parts)


def fortran_page(root):
    """From the module that bindings/fortran/generate makes, with the types of mpi_f08."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([root / "bindings/fortran/generate", root / "commpass/commpass.h", folder], check=True)
        module = pathlib.Path(folder, "commpass.f90").read_text().split("module commpass_mpi\n")[0]
    text = re.sub(r" &\n *", " ", module)
    parts = []
    for kind, name, arguments, body in re.findall(
            r"^  (subroutine|function) w_(commpass_\w+)\(([^)]*)\)[^\n]*\n(.*?)^  end \1", text, re.M | re.S):
        known = [*arguments.split(", "), "found"]
        declared = [line.strip() for line in body.splitlines()
                    if "::" in line and re.split(r"[(\s]", line.split(":: ")[1])[0] in known]
        result = [line.split(" :: ")[0] for line in declared if line.endswith(":: found")]
        lines = [line for line in declared if not line.endswith(":: found")]
        signature = f"call {name}({arguments})" if kind == "subroutine" else f"{result[0]} function {name}({arguments})"
        code = "   .. code-block:: fortran\n\n" + "".join(f"      {line}\n" for line in lines) if lines else ""
        parts.append(directive("object", [signature], f"   In C: :c:func:`{name}`.\n\n{code}"))
    return page("Fortran", "From ``use commpass``; :doc:`/docs/fortran` shows how it is used. The arguments are those "
                "of C. With ``mpi`` in place of ``mpi_f08`` handles of MPI are integers.", parts)


def python_page(package):
    """The public names of the package and their docstrings."""
    sources = {path.stem: ast.parse(path.read_text()) for path in sorted(package.glob("*.py"))}
    nodes = {node.name: node for tree in sources.values() for node in tree.body
             if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
    variables = {target.id: node.value for node in sources["__init__"].body if isinstance(node, ast.Assign)
                 for target in node.targets if isinstance(target, ast.Name)}
    public = [*ast.literal_eval(variables["_of_mpi"])]
    public += [one.value for one in variables["__all__"].elts if isinstance(one, ast.Constant)]

    def arguments_of(function):
        return re.sub(r"^(self|cls)(, )?", "", ast.unparse(function.args))

    def text_of(node, indent):
        return described(ast.get_docstring(node) or "", indent)

    def members_of(node):
        """(name, directive, signature, text) of each, bases first."""
        for base in [nodes[b.id] for b in node.bases if isinstance(b, ast.Name) and b.id in nodes]:
            yield from members_of(base)
        for one in node.body:
            if isinstance(one, ast.FunctionDef) and not one.name.startswith("_") and ast.get_docstring(one):
                marks = {d.id for d in one.decorator_list if isinstance(d, ast.Name)}
                option = "      :classmethod:\n\n" if "classmethod" in marks else "\n"
                if "property" in marks:
                    yield one.name, "py:property", one.name, "\n" + text_of(one, "      ")
                else:
                    yield one.name, "py:method", f"{one.name}({arguments_of(one)})", option + text_of(one, "      ")
            elif isinstance(one, ast.Assign) and getattr(getattr(one.value, "func", 0), "id", "") == "forwarded":
                name = one.targets[0].id
                yield name, "py:property", name, "\n" + described(one.value.args[1].value, "      ")

    parts = []
    for name in sorted(public, key=str.lower):
        node = nodes[name]
        if isinstance(node, ast.FunctionDef):
            parts.append(directive("py:function", [f"commpass.{name}({ast.unparse(node.args)})"], text_of(node, "   ")))
            continue
        made = next((one for one in node.body if isinstance(one, ast.FunctionDef) and one.name == "__init__"), None)
        # The constructor of an object that calls return is not for users, and its class does not describe arguments.
        is_for_users = made and made.args.args[1].arg + "  " in (ast.get_docstring(node) or "")
        text = text_of(node, "   ")
        for kind, signature, words in {member: rest for member, *rest in members_of(node)}.values():
            text += f"\n   .. {kind}:: {signature}\n{words}"
        arguments = f"({arguments_of(made)})" if is_for_users else ""
        parts.append(directive("py:class", [f"commpass.{name}{arguments}"], text))
    return page("Python", "From ``import commpass``; :doc:`/docs/python` shows how it is used.", parts)


def cpp_page(headers, compounds, project):
    """The classes and functions that headers declare, by Breathe, from Doxygen's XML in a folder."""
    parts = []
    space = xml.parse(compounds / "namespacecommpass.xml").getroot()
    for header in sorted(headers, key=lambda header: header.startswith("model/")):  # what programs call comes first
        found = []
        for member in space.iter("memberdef"):
            if member.find("location").get("file") != header:
                continue
            name, kind = member.findtext("name"), member.get("kind")
            if kind == "function":
                types = ", ".join("".join(one.find("type").itertext()) for one in member.findall("param"))
                found.append(f".. doxygenfunction:: commpass::{name}({types})\n   :project: {project}\n")
            elif kind in ("enum", "typedef", "variable"):
                found.append(f".. doxygen{kind}:: commpass::{name}\n   :project: {project}\n")
        for one in space.findall(".//innerclass"):
            compound = xml.parse(compounds / f"{one.get('refid')}.xml").getroot().find("compounddef")
            if compound.find("location").get("file") == header and one.text.count("::") == 1:
                found.append(f".. doxygen{compound.get('kind')}:: {one.text}\n   :project: {project}\n   :members:\n")
        if found:
            parts += [f"{header}\n{'-' * len(header)}\n", *found]
    return page("C++", "From ``#include <commpass/commpass.hpp>``, or without MPI ``<commpass/predict.hpp>``; "
                ":doc:`/docs/cpp` shows how it is used. Names are in the namespace ``commpass``.", parts)
