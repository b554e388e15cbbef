# Reads what surefire reports of tests. Sourced by tests/run, whose variable `tree` it uses.

# The tests that failed, each with the first lines of its reason, and what system tests say of their processes (ProcessSummary);
# exit code 0 if there are any.
failures() { # LOG
    awk '/<<< (FAILURE|ERROR)!$/ { print; left = 12; found = 1; next }
        /^\[run\] / { print "    " $0; next }
        left > 0 && /^$|^\tat / { left = 0 }
        left > 0 { print "    " $0; left-- }
        END { exit !found }' "$1"
}

# A line for each test that failed: `  failed: CLASS.METHOD(PARAMETERS)`, or `  flaky: ...` if it passed when surefire ran it
# again; surefire lists those at the end of each module. Exit code 0 if at least one did not pass.
outcomes() { # LOG
    awk '/ -- Time elapsed:.*<<< (FAILURE|ERROR)!$/ {
            sub(/^\[[A-Z]*\] /, ""); sub(/ -- Time elapsed:.*/, "")
            if (!($0 in seen)) names[++count] = $0
            seen[$0] = 1
        }
        /^\[WARNING\] Flakes:/ { inside = 1; next }
        /Tests run:/ { inside = 0 }
        inside && sub(/^\[WARNING\] /, "") { flaky[$0] = 1 }
        END {
            for (i = 1; i <= count; i++) {
                print (names[i] in flaky ? "  flaky: " : "  failed: ") names[i]
                if (!(names[i] in flaky)) failed = 1
            }
            exit !(failed || !count)
        }' "$1"
}

# Sums the reports of all groups.
count_reports() {
    find "$tree" -path '*/target/surefire-reports/TEST-*.xml' -exec cat {} + | awk '
        function attribute(name,   start) {
            if (!match($0, " " name "=\"[0-9]+\"")) return 0
            return substr($0, RSTART + length(name) + 3, RLENGTH - length(name) - 4) + 0
        }
        /<testsuite / {
            # A suite ends with its tag; other attributes of a line cannot be taken for these.
            tests += attribute("tests"); skipped += attribute("skipped")
            failed += attribute("failures") + attribute("errors")
        }
        END { printf "%d %d %d\n", tests - failed - skipped, failed, skipped }'
}
