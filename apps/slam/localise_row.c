/* What `svmp` and `svmp-localise` say of the command. */
#include "slam/localise_row.h"

static const option_row rows[] = {
    {"output", 'o', "FILE", "", "write the particles to FILE", "Output"},
    {"force", 'f', NULL, "", "overwrite FILE", "Output"},
    {"name", 0, "NAME", "x", "the array of positions: point I is NAME[I,]", "Output"},
    {"particles", 'n', "N", "100", "number of particles", "Size"},
    {"spread", 0, "SD", "0", "sd around the positions; 0: median range / 20", "Size"},
    {"seed", 0, "S", "1", "random seed of the spread", "Size"},
    {"odometry", 0, "FILE", "", "columns ahead,left,turn: steps (docs/slam.md)", "SLAM"},
    {"noise", 0, "R,M,T", "", "sds of a range, a move and a turn", "SLAM"},
    {"first", 0, "X,Y,H", "0,0,0", "position and heading of pose 1", "SLAM"},
    {"heading", 0, "NAME", "heading", "the array of headings", "SLAM"},
    {"map", 0, "NAME", "mark", "the array of landmarks", "SLAM"},
};

static void options(option_set *set) { options_add(set, sizeof rows / sizeof *rows, rows); }

const command command_localise = {
    .name = "localise",
    .operands = "RANGES [ANCHORS]",
    .least = 1,
    .most = 2,
    .summary = "Find a start for a model of distances",
    .help = "RANGES: CSV with columns from,to,r: two point numbers (1, 2, ...) and their\n"
            "measured distance. ANCHORS: CSV with columns point,x[,y[,z]]: the known points.\n"
            "'svmp run MODEL DATA --init FILE' starts from the particles that -o FILE writes.\n",
    .text =
        "RANGES is a CSV file with columns from, to and r: two point numbers (1, 2, ...) and their measured\ndistance. "
        "ANCHORS lists the known points: their number, then 1 to 3 coordinates. Shortest paths replace\ndistances that "
        "were not measured, classical multidimensional scaling turns the distances into a map, and\na Procrustes "
        "transformation aligns the map with the anchors. The particles are for\n.BR \"svmp run \\-\\-init FILE\" "
        ":\nthe posterior of such a model has many folded modes, and a run from this start usually finds the true "
        "one.\n.PP\nWith\n.B \\-\\-odometry\nit finds the path of a robot and a map of landmarks (range-only SLAM; "
        "docs/slam.md). RANGES has the\ncolumns pose, landmark and r. The file of odometry has a row for each step: "
        "how far the robot moved\nahead and to its left, and then turned, in radians. ANCHORS is not needed. The "
        "result is a JSON file for\n.BR \"svmp run \\-\\-init gaussian:FILE\" .\nLandmarks that could be at two "
        "places, ranges that do not fit, and odometry that is worse than\n.B \\-\\-noise\nsays are reported.\n",
    .options = options,
    .program = "svmp-localise",
};
