#!/bin/sh
# Generates the tables of exported names.
#   generate.sh tables NAMES VERSIONS DIRECTORY      entry_ids.h, names.c, lookup_rows.c
#   generate.sh constants CONSTANTS DIRECTORY         constants.h, result_names.inc
#   generate.sh header CONSTANTS FILE                cuda_constants.h, for test programs: the names of cuda.h
#   generate.sh layouts DESCRIPTION FILE             cuda_layouts.h: sizes of structures and offsets of their members
#   generate.sh unsupported NAMES FILE OBJECTS...    an entry that answers 801 for every name no object defines
set -eu

# One name a line, whatever else stands in the list: comments, or the letters of nm.
names() {
    sed -e 's/#.*//' "$1" | awk 'NF { print $NF }' | grep -E '^cu[A-Z]' | LC_ALL=C sort -u
}

case "$1" in
tables)
    names "$2" | awk 'BEGIN { print "enum {" } { print "    ENTRY_" $1 "," } END { print "    ENTRY_COUNT\n};" }' > "$4/entry_ids.h"
    {
        echo '#include "entry.h"'
        echo 'const char *const entry_names[ENTRY_COUNT] = {'
        names "$2" | sed 's/.*/    "&",/'
        echo '};'
    } > "$4/names.c"
    {
        echo '#include "lookup.h"'
        grep -E '^cu' "$3" | awk '{ print "extern int " $1 "();" }' # only the address is used
        echo 'const struct lookup_row lookup_rows[] = {'
        grep -E '^cu' "$3" | awk '{ print "    {\"" $2 "\", " $3 ", " ($1 ~ /_pt[ds][zs]$/) ", (void *)" $1 "}," }'
        echo '    {0, 0, 0, 0},'
        echo '};'
    } > "$4/lookup_rows.c"
    ;;
constants)
    {
        echo 'enum {'
        awk '$1 == "result" { print "    " ($2 ? "ERROR_" $3 : "OK") " = " $2 "," }' "$2"
        echo '};'
        echo 'enum {'
        awk '$1 == "attribute" { print "    ATTRIBUTE_" $3 " = " $2 "," }' "$2"
        awk '$1 == "memorytype" { print "    CU_MEMORYTYPE_" $3 " = " $2 "," } $1 == "enumerator" { print "    " $3 " = " $2 "," }' "$2"
        echo '};'
    } > "$3/constants.h"
    awk '$1 == "result" { print "    {" $2 ", \"CUDA_" ($2 ? "ERROR_" : "") $3 "\"}," }' "$2" > "$3/result_names.inc"
    ;;
header)
    {
        printf '#ifndef CUDA_CONSTANTS_H\n#define CUDA_CONSTANTS_H\n\nenum {\n'
        awk '$1 == "result" { print "    CUDA_" ($2 ? "ERROR_" : "") $3 " = " $2 "," }
            $1 == "attribute" { print "    CU_DEVICE_ATTRIBUTE_" $3 " = " $2 "," }
            $1 == "memorytype" { print "    CU_MEMORYTYPE_" $3 " = " $2 "," }
            $1 == "enumerator" { print "    " $3 " = " $2 "," }' "$2"
        printf '};\n\n#endif\n'
    } > "$3"
    ;;
layouts)
    # As native-preload's cuda_layouts.h, which the build of this driver does not need.
    {
        echo 'enum {'
        awk '$1 == "type" { type = $4 == "value" ? $2 : ""; if (type) print "    " type "_BYTES = " $5 "," }
            $1 == "field" && type { name = $2; gsub(/\./, "_", name); print "    " type "_" name " = " $3 "," }' "$2"
        echo '};'
    } > "$3"
    ;;
unsupported)
    list=$2
    file=$3
    shift 3
    nm --defined-only "$@" | awk '$2 == "T" { print $3 }' | LC_ALL=C sort -u > "$file.served"
    {
        echo '#include "entry.h"'
        names "$list" | LC_ALL=C comm -23 - "$file.served" |
            sed 's/.*/EXPORT CUresult &(void) { return call_unsupported(ENTRY_&); }/'
    } > "$file"
    rm -f "$file.served"
    ;;
*)
    exit 2
    ;;
esac
