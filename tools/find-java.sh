# Finds Java 25. Sourced by tools/tessera, tools/build and tests/run; defines functions and starts no JVM where a
# home's `release` file says which version it is.
#
#   find_java jre    sets java_home to a Java 25 that can run programs
#   find_java jdk    sets java_home to one that has a compiler too
#
# Returns 1 where there is none and leaves the sentence that says so in java_problem. Order: TESSERA_JAVA (a home or
# a java executable; if it is set and is no Java 25, that is an error and nothing else is tried), the kit's own
# runtime (TESSERA_HOME/jre), JAVA_HOME, java on PATH, the usual folders. TESSERA_JVM_FOLDERS, a list separated by
# colons, replaces the usual folders: each entry is a folder that holds Java homes.

# Version of the Java home $1, "25.0.3" for example, in java_version; empty where it cannot be known.
java_version_of() {
    java_version=
    [ -x "$1/bin/java" ] || return 0
    if [ -r "$1/release" ]; then
        while IFS= read -r java_line || [ -n "$java_line" ]; do
            case $java_line in
            JAVA_VERSION=*)
                java_version=${java_line#JAVA_VERSION=}
                java_version=${java_version#\"}
                java_version=${java_version%\"}
                return 0
                ;;
            esac
        done <"$1/release"
    fi
    java_version=$("$1/bin/java" -version 2>&1) || java_version=
    case $java_version in
    *version\ \"*)
        java_version=${java_version#*version \"}
        java_version=${java_version%%\"*}
        ;;
    *) java_version= ;;
    esac
}

# Whether the Java home $1 is a Java 25 of the kind $2.
java_fits() {
    [ -x "$1/bin/java" ] || return 1
    [ "$2" != jdk ] || [ -x "$1/bin/javac" ] || return 1
    java_version_of "$1"
    case $java_version in
    25 | 25.* | 25-* | 25+*) return 0 ;;
    esac
    return 1
}

# Home that the java executable $1 belongs to, links resolved, in java_candidate.
java_home_of() {
    java_candidate=$(readlink -f "$1") || java_candidate=$1
    java_candidate=${java_candidate%/bin/java}
}

find_java() {
    java_home=
    java_problem=
    if [ -n "${TESSERA_JAVA:-}" ]; then
        java_candidate=$TESSERA_JAVA
        [ -d "$java_candidate" ] || java_home_of "$java_candidate"
        if java_fits "$java_candidate" jre; then
            if [ "$1" = jre ] || [ -x "$java_candidate/bin/javac" ]; then
                java_home=$java_candidate
                return 0
            fi
            java_problem="TESSERA_JAVA=$TESSERA_JAVA is a Java 25 without a compiler; building needs a JDK 25."
            return 1
        fi
        java_problem="TESSERA_JAVA=$TESSERA_JAVA is no Java 25"
        [ -z "${java_version:-}" ] || java_problem="$java_problem (it is $java_version)"
        java_problem="$java_problem. Name the home or the java executable of one, or unset it."
        return 1
    fi
    if [ -n "${TESSERA_HOME:-}" ] && java_fits "$TESSERA_HOME/jre" "$1"; then
        java_home=$TESSERA_HOME/jre
        return 0
    fi
    if [ -n "${JAVA_HOME:-}" ] && java_fits "$JAVA_HOME" "$1"; then
        java_home=$JAVA_HOME
        return 0
    fi
    if java_on_path=$(command -v java) && [ -n "$java_on_path" ]; then
        java_home_of "$java_on_path"
        if java_fits "$java_candidate" "$1"; then
            java_home=$java_candidate
            return 0
        fi
    fi
    find_java_in_folders "$1" && return 0
    if [ "$1" = jdk ]; then java_problem="No JDK 25 found."; else java_problem="No Java 25 found."; fi
    java_problem="$java_problem Looked at TESSERA_JAVA, JAVA_HOME, PATH and $java_folders. Install a JDK 25"
    java_problem="$java_problem (for example Eclipse Temurin) or set TESSERA_JAVA to the home of one."
    return 1
}

find_java_in_folders() {
    java_folders=${TESSERA_JVM_FOLDERS:-/usr/lib/jvm:/usr/lib64/jvm:/opt:/opt/java:/usr/java:/usr/local/java}
    [ -n "${TESSERA_JVM_FOLDERS:-}" ] || [ -z "${HOME:-}" ] ||
        java_folders=$java_folders:$HOME/.sdkman/candidates/java:$HOME/.jdks
    java_rest=$java_folders:
    while [ -n "$java_rest" ]; do
        java_folder=${java_rest%%:*}
        java_rest=${java_rest#*:}
        [ -n "$java_folder" ] || continue
        for java_candidate in "$java_folder"/*; do
            if java_fits "$java_candidate" "$1"; then
                java_home=$java_candidate
                return 0
            fi
        done
    done
    return 1
}
