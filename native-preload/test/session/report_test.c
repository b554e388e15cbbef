/* What the library writes to standard error: one line at a time, whatever others put into it. */
#include "session/report.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

static int pipe_end;

/* What one report wrote. */
static const char *written(void)
{
    static char text[4096];
    ssize_t n = read(pipe_end, text, sizeof text - 1);
    text[n < 0 ? 0 : n] = 0;
    return text;
}

static void check_written(const char *from, const char *expected)
{
    report_line("%s", from);
    CHECK(strcmp(written(), expected) == 0);
}

static void controls_are_shown(void)
{
    check_written("two\nlines\r\t", "tessera: two?lines??\n");
    check_written("\x1b[2J\x7f", "tessera: ?[2J?\n");
    check_written("\xC2\x9B"
                  "31m",
                  "tessera: \xC2?31m\n");
}

static void other_text_stays(void)
{
    check_written("/home/J\xC3\xBCrgen/\xE2\x82\xAC \xC2\xA0", "tessera: /home/J\xC3\xBCrgen/\xE2\x82\xAC \xC2\xA0\n");
    check_written("", "tessera: \n");
}

static void every_byte_leaves_one_line(void)
{
    for (int byte = 1; byte < 256; byte++) {
        const char text[] = {'a', (char)byte, 'b', 0};
        report_line("%s", text);
        const char *line = written();
        CHECK(strlen(line) == strlen("tessera: a?b\n") && strchr(line, '\n') == line + strlen(line) - 1);
    }
}

static void long_text_is_cut_within_its_line(void)
{
    char text[2000];
    memset(text, '\n', sizeof text);
    text[sizeof text - 1] = 0;
    report_line("%s", text);
    const char *line = written();
    CHECK(strlen(line) < 1024 && strchr(line, '\n') == line + strlen(line) - 1);
}

int main(void)
{
    int ends[2];
    CHECK(pipe(ends) == 0 && fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0);
    pipe_end = ends[0];
    int usual = dup(STDERR_FILENO);
    CHECK(usual >= 0 && dup2(ends[1], STDERR_FILENO) == STDERR_FILENO);
    controls_are_shown();
    other_text_stays();
    every_byte_leaves_one_line();
    long_text_is_cut_within_its_line();
    CHECK(dup2(usual, STDERR_FILENO) == STDERR_FILENO);
    return 0;
}
