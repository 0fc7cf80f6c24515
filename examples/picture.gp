# Draws the table written by examples/grid: gnuplot -c picture.gp TABLE PICTURE (.svg or .png).
table = ARG1
wide = 900; high = 330
set terminal svg size wide,high dynamic font "Helvetica,13" background "#ffffff"
if (ARG2[strlen(ARG2) - 3:] eq ".png") set terminal pngcairo size 2*wide,2*high fontscale 1.6 pointscale 2 linewidth 2 background "#ffffff"
set output ARG2
set datafile separator ","

blue = "#1f6fb4"; orange = "#d9661f"; grey = "#8a8a8a"; dark = "#333333"
stats table using 2 every ::1 nooutput name "E"
stats table using ($3/$2) every ::1 nooutput name "G"
stats table using ($4/$2) every ::1 nooutput name "V"
top = ceil(E_max)

set multiplot
set title textcolor rgb dark
set tics textcolor rgb dark nomirror

# ---- left: the particles' variance against the exact one, a point a node -----------------------------------------------
set lmargin at screen 0.060; set rmargin at screen 0.322
set tmargin at screen 0.870; set bmargin at screen 0.870 - 0.262 * wide / high
set border 3 lc rgb grey
set title "variance of each node, 50 particles" offset 0,-0.2
set xlabel "exact" offset 0,0.5 textcolor rgb dark
set ylabel "particles" offset 1.0,0 textcolor rgb dark
set xrange [0:top]; set yrange [0:top]
set xtics 2 scale 0.5; set ytics 2 scale 0.5
unset key
set label 1 "equal" at 0.20*top,0.26*top rotate by 45 center textcolor rgb grey
set label 2 sprintf("graphical: %.0f %% of the variance", 100 * G_mean) at 0.04*top,0.94*top textcolor rgb blue
set label 3 sprintf("vanilla: %.0f %%", 100 * V_mean) at 1.0*top,0.05*top right textcolor rgb orange
plot x with lines lc rgb grey lw 1.2 dt 2, \
     table using 2:4 every ::1 with points pt 7 ps 0.4 lc rgb orange, \
     table using 2:3 every ::1 with points pt 7 ps 0.4 lc rgb blue
unset label 1; unset label 2; unset label 3

# ---- right: the standard deviation of each node on the grid, one scale for the three maps --------------------------------
side = 0.171; low = 0.870 - 0.262 * wide / high
across(i) = int(i - 1) % 10
down(i) = int(i - 1) / 10
set border 15 lw 0.5 lc rgb grey
unset xlabel; unset ylabel; unset xtics; unset ytics
set xrange [-0.5:9.5]; set yrange [9.5:-0.5]
set cbrange [0:sqrt(E_max)]
set palette defined (0 "#fcfdbf", 0.25 "#fe9f6d", 0.5 "#de4968", 0.75 "#8c2981", 1 "#1d1147")
unset colorbox
set label 4 "standard deviation on the grid" at screen 0.392 + 0.183 + side / 2, low + side * wide / high + 0.19 center textcolor rgb dark
do for [k = 1:3] {
    left = 0.392 + 0.183 * (k - 1)
    set lmargin at screen left; set rmargin at screen left + side
    set bmargin at screen low + 0.06; set tmargin at screen low + 0.06 + side * wide / high
    set title word("exact graphical vanilla", k) offset 0,-0.4 textcolor rgb word(dark . " " . blue . " " . orange, k)
    if (k == 3) {
        set colorbox user origin left + side + 0.010,low + 0.06 size 0.011,side * wide / high
        set cbtics 1 scale 0 offset -0.7,0
    }
    plot table using (across($1)):(down($1)):(sqrt(k == 1 ? $2 : k == 2 ? $3 : $4)) every ::1 with image pixels
    unset label 4
}
unset multiplot
