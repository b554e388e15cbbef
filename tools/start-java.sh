# Starts Java programs of the application. Sourced by tools/tessera, whose variables it uses.

# Archive with which the class $1 starts in half the time, in java_archive; empty where tools/starts made none for these jars
# and this Java. StartArchive does the same for what a manager starts.
find_archive() {
    java_archive=$app_folder/starts/cli.aot
    [ "$1" != io.tessera.manager.ManagerMain ] || java_archive=$app_folder/starts/manager.aot
    archive_home=
    [ ! -r "$java_archive" ] || read -r archive_home <"$app_folder/starts/java-home" || archive_home=
    # Objects in it are for one collector.
    case $java_size in *UseSerialGC*) ;; *) archive_home= ;; esac
    [ "$archive_home" = "$java_home" ] || { java_archive=; return 0; }
    for archive_jar in "$app_folder"/*.jar; do
        [ ! "$archive_jar" -nt "$java_archive" ] || { java_archive=; return 0; }
    done
}

# Starts the Java program $1 (a class) of the application with the other arguments, in this process, with the options java_size.
# java_prefix is a program that starts Java.
java_exec() {
    java_class=$1
    shift
    find_archive "$java_class"
    # Their "Picked up ..." lines and agents belong to the user's programs, not to this one. Nor is it a client.
    unset JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS LD_PRELOAD
    # A list of words on purpose.
    # shellcheck disable=SC2086
    exec ${java_prefix:-} "$java_home/bin/java" $java_size ${java_archive:+-Xlog:disable} \
        ${java_archive:+"-Xlog:all=warning,aot*=off,cds*=off:stderr"} ${java_archive:+"-XX:AOTCache=$java_archive"} \
        --enable-native-access=ALL-UNNAMED --sun-misc-unsafe-memory-access=allow \
        "-Dtessera.home=$TESSERA_HOME" "-Dtessera.native=$native_folder" "-Dtessera.probe=$probe" \
        "-Dtessera.agent=${app_folder%/app}/agent/tessera-agent.jar" \
        -cp "$app_folder/*" "$java_class" "$@"
}
